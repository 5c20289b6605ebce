/* firmware.c - which files, where from: polaris.md 4.1. */
#include "device/firmware/firmware.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/firmware/firmware_priv.h"
#include "device/firmware/standin.h"

/* Header sizes: polaris.md 4.2; rlc without its last, optional list fields; sdma v1.1 adds the
 * digest's size. Ids: polaris.md 4.4. The sizes of stand-ins imitate the vendor's files so that
 * modelled link seconds mean something; SMC: polaris.md 4.3 step 5. */
static const struct fw_format formats[FW_KINDS] = {
        [FW_RLC] = {"RLC", {"polaris10_rlc.bin"}, 2, 0, 88, 0, 10, 24576},
        [FW_CE] = {"CE", {"polaris10_ce_2.bin", "polaris10_ce.bin"}, 1, 0, 44, 0, 3, 8576},
        [FW_PFP] = {"PFP", {"polaris10_pfp_2.bin", "polaris10_pfp.bin"}, 1, 0, 44, 0, 4, 16768},
        [FW_ME] = {"ME", {"polaris10_me_2.bin", "polaris10_me.bin"}, 1, 0, 44, 0, 5, 16768},
        [FW_MEC] = {"MEC", {"polaris10_mec_2.bin", "polaris10_mec.bin"}, 1, 0, 44, 0, 6, 262528},
        [FW_SDMA0] = {"SDMA0", {"polaris10_sdma.bin"}, 1, 1, 48, 4, 1, 12544},
        [FW_SDMA1] = {"SDMA1", {"polaris10_sdma1.bin"}, 1, 1, 48, 4, 2, 12544},
        [FW_SMC] = {"SMC", {NULL}, 1, 0, 36, 0, STANDIN_SMC, 129940},
        [FW_MC] = {"MC", {NULL}, 1, 0, 40, 0, STANDIN_MC, 32768},
};

const struct fw_format *fw_format(enum fw_kind kind)
{
	return &formats[kind];
}

const char *fw_title(enum fw_kind kind)
{
	return formats[kind].title;
}

/* Boards called P20 and P30 by amdgpu: ASICID_IS_P20/P30 in amdgpu.h, polaris.md 4.1. */
static bool is_p20(const struct fw_query *q)
{
	static const uint8_t revisions[] = {0xE3, 0xE4, 0xE5, 0xE7, 0xEF};

	if (q->device == 0x6FDF)
		return q->revision == 0xE7 || q->revision == 0xEF || q->revision == 0xFF;
	return q->device == 0x67DF && memchr(revisions, q->revision, sizeof(revisions));
}

static bool is_p30(const struct fw_query *q)
{
	return q->device == 0x67DF && (q->revision == 0xE1 || q->revision == 0xF7);
}

static const char *smc_name(const struct fw_query *q)
{
	if (!q->smu_sel)
		return "polaris10_smc_sk.bin";
	if (is_p20(q))
		return "polaris10_k_smc.bin";
	return is_p30(q) ? "polaris10_k2_smc.bin" : "polaris10_smc.bin";
}

void fw_names(const struct fw_query *q, enum fw_kind kind, const char *names[2])
{
	names[0] = formats[kind].names[0];
	names[1] = formats[kind].names[1];
	if (kind == FW_SMC)
		names[0] = smc_name(q);
	if (kind == FW_MC)
		names[0] = is_p30(q) ? "polaris10_k_mc.bin" : "polaris10_mc.bin";
}

/* ---- one file ---- */

static int read_all(int fd, uint8_t *buf, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = read(fd, buf + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO; /* it became shorter meanwhile */
		at += (size_t)n;
	}
	return 0;
}

/* read_file - the bytes as they are. -ENOENT is not logged. */
static int read_file(const char *path, uint8_t **data, size_t *size)
{
	RX_CLEANUP(close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
		               ? -ENOENT
		               : rx_fail("firmware", -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return rx_fail("firmware", -EINVAL, "%s: not a regular file", path);
	if (st.st_size <= 0 || st.st_size > (off_t)FW_MAX_BYTES)
		return rx_fail("firmware", st.st_size ? -EFBIG : -EINVAL,
		        "%s: %lld bytes; microcode has 1 to %u", path, (long long)st.st_size,
		        FW_MAX_BYTES);
	*size = (size_t)st.st_size;
	*data = malloc(*size);
	if (!*data)
		return -ENOMEM;
	int err = read_all(fd, *data, *size);

	if (err) {
		free(*data);
		return rx_fail("firmware", err, "%s: %s", path, strerror(-err));
	}
	return 0;
}

static int take(
        struct fw_image *out, enum fw_kind kind, const char *path, uint8_t *data, size_t size)
{
	char why[160];
	int err = fw_parse(out, kind, data, size, why, sizeof(why));

	if (err) {
		free(data);
		return rx_fail("firmware", err, "%s: %s; get the file again", path, why);
	}
	return 0;
}

static int load_file(struct fw_image *out, enum fw_kind kind, const char *path)
{
	uint8_t *data;
	size_t size, packed_size = 0;
	RX_CLEANUP(free) uint8_t *packed = NULL;
	int err = read_file(path, &packed, &packed_size);

	if (err)
		return err;
	err = fw_unpack(path, packed, packed_size, &data, &size);
	if (err)
		return rx_fail("firmware", err, "%s: %s", path,
		        err == -EFBIG ? "unpacks to more than a microcode can be"
		                      : "cannot be unpacked; get the file again");
	return take(out, kind, path, data, size);
}

/* ---- all of them ---- */

/* try_names - the first name that is there, in any packing. -ENOENT: none. */
static int try_names(
        struct fw_image *out, const char *folder, const struct fw_query *q, enum fw_kind kind)
{
	static const char *const suffix[] = {"", ".xz", ".zst"};
	const char *names[2];
	char path[4096];

	fw_names(q, kind, names);
	for (size_t i = 0; i < 2 && names[i]; i++)
		for (size_t s = 0; s < ARRAY_SIZE(suffix); s++) {
			if (snprintf(path, sizeof(path), "%s/%s%s", folder, names[i], suffix[s]) >=
			        (int)sizeof(path))
				return rx_fail("firmware", -ENAMETOOLONG, "%s/%s: path too long",
				        folder, names[i]);
			int err = load_file(out, kind, path);

			if (err == -ENOENT)
				continue;
			if (!err)
				snprintf(out->name, sizeof(out->name), "%s%s", names[i], suffix[s]);
			return err;
		}
	return -ENOENT;
}

static void append_missing(char *list, size_t size, const struct fw_query *q, enum fw_kind kind)
{
	const char *names[2];
	size_t n = strlen(list);

	fw_names(q, kind, names);
	snprintf(list + n, size - n, "%s%s", n ? ", " : "", names[0]);
	n = strlen(list);
	if (names[1])
		snprintf(list + n, size - n, " (or %s)", names[1]);
}

/* folder_of - DIR itself or the amdgpu/ in it, as in linux-firmware's tree. */
static int folder_of(const struct fw_query *q, char *path, size_t size)
{
	struct stat st;
	const char *folder = q->folder ? q->folder : FW_DEFAULT_FOLDER;

	if (snprintf(path, size, "%s/amdgpu", folder) >= (int)size)
		return rx_fail("firmware", -ENAMETOOLONG, "--firmware %s: path too long", folder);
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		snprintf(path, size, "%s", folder);
	return 0;
}

static int load_files(struct fw_set *out, const struct fw_query *q)
{
	char folder[4096], missing[512] = "";
	int err = folder_of(q, folder, sizeof(folder));

	for (unsigned k = 0; k < FW_KINDS && !err; k++) {
		err = try_names(&out->image[k], folder, q, (enum fw_kind)k);
		if (err == -ENOENT) {
			if (k != FW_MC) /* not loaded: polaris.md 3.7 */
				append_missing(missing, sizeof(missing), q, (enum fw_kind)k);
			err = 0;
		}
	}
	if (!err && missing[0])
		return rx_fail("firmware", -ENOENT,
		        "missing in %s, plain, .xz or .zst: %s. Debian ships them in "
		        "firmware-amd-graphics (non-free-firmware), others in linux-firmware, "
		        "folder amdgpu/; name another folder with --firmware DIR",
		        folder, missing);
	return err;
}

static int generate(struct fw_set *out)
{
	out->generated = true;
	for (unsigned k = 0; k < FW_KINDS; k++) {
		size_t size;
		uint8_t *data = fw_standin((enum fw_kind)k, &size);
		int err = data ? take(&out->image[k], (enum fw_kind)k, "stand-in", data, size)
		               : -ENOMEM;

		if (err)
			return err;
		snprintf(out->image[k].name, sizeof(out->image[k].name), "generated");
	}
	return 0;
}

int fw_load(struct fw_set *out, const struct fw_query *q)
{
	memset(out, 0, sizeof(*out));
	out->p20 = is_p20(q);
	out->kicker = q->smu_sel && (out->p20 || is_p30(q));
	int err = q->virtual_card && !q->folder ? generate(out) : load_files(out, q);

	if (err) {
		fw_free(out);
		return err;
	}
	for (unsigned k = 0; k < FW_KINDS; k++)
		rx_log(LOG_DEBUG, "firmware", "%s: %s, header %u.%u, version 0x%08x, %u bytes",
		        formats[k].title, out->image[k].name, out->image[k].header_major,
		        out->image[k].header_minor, out->image[k].ucode_version,
		        out->image[k].payload_bytes);
	return 0;
}

void fw_free(struct fw_set *s)
{
	for (unsigned k = 0; k < FW_KINDS; k++)
		free(s->image[k].data);
	memset(s, 0, sizeof(*s));
}
