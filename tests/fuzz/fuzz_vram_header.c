/* fuzz_vram_header.c - libFuzzer entry: any bytes where the record of what lives in VRAM should be.
 * The first byte says whether they come as they are, or with the checksums and numbers that get
 * them past the first look. A list that was accepted keeps what keep.h promises.
 */
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/core/keep.h"
#include "device/name.h"

#define LOW  (16ull << 20)
#define HIGH (8ull << 30)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void seal(uint8_t record[KEEP_RECORD_BYTES], uint64_t generation, unsigned index)
{
	uint8_t seed[8];

	put_le64(seed, generation);
	put_le32(record + 4, index);
	put_le32(record, crc32_more(crc32_of(seed, 8), record + 4, KEEP_RECORD_BYTES - 4));
}

static int apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return !a_bytes || !b_bytes || a + a_bytes <= b || b + b_bytes <= a;
}

static void check_promises(const struct keep_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct rx_kept *e = &l->entry[i];

		require(memchr(e->name, 0, sizeof(e->name)) != NULL && e->name[0]);
		require(!strchr(e->name, '/'));
		require(!e->size || (e->offset >= LOW && range_ok(e->offset, e->size, HIGH)));
		require(!e->note_bytes ||
		        (e->note >= LOW && range_ok(e->note, e->note_bytes, HIGH)));
		require(apart(e->offset, e->size, e->note, e->note_bytes));
		for (size_t j = 0; j < i; j++) {
			const struct rx_kept *f = &l->entry[j];

			require(e->kind != f->kind || strcmp(e->name, f->name) != 0);
			require(apart(e->offset, e->size, f->offset, f->size));
			require(apart(e->offset, e->size, f->note, f->note_bytes));
			require(apart(e->note, e->note_bytes, f->note, f->note_bytes));
		}
	}
}

static void read_list(const uint8_t *data, size_t size, uint64_t generation, int sealed)
{
	struct keep_list l = {0};
	char why[160] = "";
	int err = 0;

	for (unsigned i = 0; size >= KEEP_RECORD_BYTES && !err; i++) {
		uint8_t record[KEEP_RECORD_BYTES];

		memcpy(record, data, sizeof(record));
		if (sealed)
			seal(record, generation, i);
		if (!keep_record_whole(record, generation, i))
			break;
		err = keep_list_apply(&l, record);
		data += sizeof(record);
		size -= sizeof(record);
	}
	if (!err && keep_list_check(&l, LOW, HIGH, why, sizeof(why)) == 0)
		check_promises(&l);
	else
		require(err || why[0]);
	keep_list_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keep_header h = {.generation = 1};
	uint8_t head[KEEP_HEADER_BYTES];

	if (size < 1 + sizeof(head) || size > 64u << 10)
		return 0;
	int sealed = data[0] & 1;

	memcpy(head, data + 1, sizeof(head));
	if (sealed)
		put_le32(head + 60, crc32_of(head, 60));
	if (keep_header_parse(head, &h) == 0) {
		require(h.generation != 0 && strlen(h.writer) < sizeof(h.writer));
	} else if (!sealed) {
		return 0;
	}
	read_list(data + 1 + sizeof(head), size - 1 - sizeof(head), h.generation, sealed);
	return 0;
}
