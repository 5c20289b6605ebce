/* keep.h - the record of what lives in VRAM, as bytes: a header and a log of fixed records in each
 * of two areas of the reserve. The newer valid area counts; its log ends at the first record that
 * is not whole. Little endian; format: docs/architecture.md, "Warm attach". Pure: bytes in, structs
 * out. All of it is foreign input: nothing is published that was not checked.
 */
#ifndef RX_KEEP_H
#define RX_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/rx580.h"

/* Inside the reserve, above what VBIOS and console may use (9 MiB: polaris.md 3.1), below
 * MICROCODE_AT */
#define KEEP_AT           (9ull << 20)
#define KEEP_AREAS        2u
#define KEEP_AREA_BYTES   (256u << 10)
#define KEEP_HEADER_BYTES 64u
#define KEEP_LOG_AT       256u /* in an area */
#define KEEP_RECORD_BYTES 144u
#define KEEP_RECORDS      ((KEEP_AREA_BYTES - KEEP_LOG_AT) / KEEP_RECORD_BYTES)
#define KEEP_MAX_ENTRIES  1024u /* leaves room for changes before the log must be written anew */
#define KEEP_VERSION      2u

static inline uint64_t keep_area_at(unsigned area)
{
	return KEEP_AT + (uint64_t)area * KEEP_AREA_BYTES;
}

struct keep_header {
	uint64_t
	        generation; /* of the area: the larger is the newer; seeds the records' checksums */
	char writer[25];
};

void keep_header_build(uint8_t out[KEEP_HEADER_BYTES], const struct keep_header *h);
/* keep_header_parse - Return: 0; -ENOENT no header there; -EBADMSG damaged, or of a version that is
 * not ours. */
int keep_header_parse(const uint8_t bytes[KEEP_HEADER_BYTES], struct keep_header *out);

enum keep_op { KEEP_PUT = 1, KEEP_DROP };

/* keep_record_build - record @index of the area's log: @e, or its end. */
void keep_record_build(uint8_t out[KEEP_RECORD_BYTES], uint64_t generation, unsigned index,
        enum keep_op op, const struct rx_kept *e);
/* keep_record_whole - whether it is record @index of this area's log. */
bool keep_record_whole(const uint8_t bytes[KEEP_RECORD_BYTES], uint64_t generation, unsigned index);

/* Entries by kind and name. */
struct keep_list {
	struct rx_kept *entry;
	size_t n, room;
};
void keep_list_free(struct keep_list *l);
struct rx_kept *keep_list_find(const struct keep_list *l, char kind, const char *name);
/* keep_list_put - add or replace; a buffer that is there under another name has been renamed: its
 * range, or its note, tells. Return: 0; -ENOSPC; -ENOMEM. */
int keep_list_put(struct keep_list *l, const struct rx_kept *e);
void keep_list_drop(struct keep_list *l, char kind, const char *name);

/* keep_list_apply - one whole record. Return: 0; -EBADMSG its fields make no sense; -ENOSPC;
 * -ENOMEM.
 */
int keep_list_apply(struct keep_list *l, const uint8_t bytes[KEEP_RECORD_BYTES]);
/* keep_list_check - names, and every range inside [@low, @high) and apart from all others. @why: a
 * sentence. Return: 0; -EBADMSG. */
int keep_list_check(
        const struct keep_list *l, uint64_t low, uint64_t high, char *why, size_t why_size);

#endif
