/* firmware.h - microcode files: which ones this card wants, where they are, whether they hold
 * together. amdgpu's names and formats (polaris.md 4.1, 4.2); plain, .xz and .zst.
 *
 * No vendor file was available to test with: the parser was checked against files made for the
 * purpose, and what only a real file can show (odd header sizes) it tolerates where the driver does
 * not depend on it. crc32 of the header is not checked, for nobody says over what it is taken; the
 * SMU checks signatures of what it runs.
 *
 * Little endian. Pure but for fw_load, which reads files. Errors are logged where detected.
 */
#ifndef RX_FIRMWARE_H
#define RX_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_DEFAULT_FOLDER "/lib/firmware/amdgpu"
#define FW_MAX_BYTES      (1u << 20) /* of a file, packed or not: the largest (MEC) has 0.26 MB */
#define FW_SMC_MAX_BYTES  0x20000u   /* polaris.md 4.3 step 5 */

/* The order of the SMU's table of contents (polaris.md 4.4), then what is not in it. MEC2 runs the
 * image of MEC1: amdgpu-oracle.md 7 item 4. */
enum fw_kind { FW_RLC, FW_CE, FW_PFP, FW_ME, FW_MEC, FW_SDMA0, FW_SDMA1, FW_SMC, FW_MC, FW_KINDS };

struct fw_image {
	enum fw_kind kind;
	char name[64]; /* the file's name, "generated" for a stand-in */
	uint8_t *data; /* the whole unpacked file, owned */
	size_t size;
	uint16_t header_major, header_minor, ip_major, ip_minor;
	uint32_t ucode_version, feature_version; /* feature_version 0: the header has none */
	const uint8_t *payload;                  /* inside @data, a multiple of 4 bytes */
	uint32_t payload_bytes;
	/* byte range inside the payload; 0: no jump table. Guaranteed for MEC */
	uint32_t jt_offset, jt_bytes;
	uint32_t start_address;  /* SMC: where in SMC RAM the payload goes */
	const uint8_t *io_debug; /* MC: {index, value} dword pairs inside @data */
	uint32_t io_debug_bytes;
};

struct fw_set {
	struct fw_image image[FW_KINDS];
	bool generated; /* stand-ins: only for the virtual card */
	bool kicker;    /* the SMC image is a k or k2 one: polaris.md 4.1 */
	bool p20;       /* and the board one of those amdgpu calls P20: polaris.md 10.6, AVFS */
};

struct fw_query {
	const char *folder; /* --firmware DIR; NULL: FW_DEFAULT_FOLDER */
	bool virtual_card;  /* positively known; allows stand-ins */
	uint16_t device;    /* PCI */
	uint8_t revision;   /* PCI */
	bool smu_sel;       /* SMU_FIRMWARE bit 17: polaris.md 4.3 */
};

/* fw_names - what to look for, best first. @names[1] may be NULL. */
void fw_names(const struct fw_query *q, enum fw_kind kind, const char *names[2]);
/* fw_title - "PFP", "SMC", ... */
const char *fw_title(enum fw_kind kind);

/* fw_parse - check every field of @data, a whole unpacked file, and fill @out but for name. On
 * success @out owns @data (malloc). Return: 0; -EINVAL with one line in @why.
 */
int fw_parse(struct fw_image *out, enum fw_kind kind, uint8_t *data, size_t size, char *why,
        size_t why_size);

/* fw_load - all images for this card. Without folder the virtual card gets stand-ins; with one it
 * gets those files. Return: 0; -ENOENT with a line that names each missing file and where
 * distributions ship it; -EINVAL a file is damaged; -EFBIG; -ENOMEM. On error nothing is kept.
 */
int fw_load(struct fw_set *out, const struct fw_query *q);
void fw_free(struct fw_set *s);

/* fw_unpack - @packed by the suffix of @name (.xz, .zst, else plain copy) into a new buffer of at
 * most FW_MAX_BYTES. Return: 0; -EINVAL damaged; -EFBIG; -ENOMEM. Not logged.
 */
int fw_unpack(
        const char *name, const uint8_t *packed, size_t packed_size, uint8_t **data, size_t *size);

/* fw_standin - a generated file of @kind (standin.h), owned by the caller. NULL: out of memory. */
uint8_t *fw_standin(enum fw_kind kind, size_t *size);

#endif
