/* smu_load.c - LoadUcodes: the SMU fetches the engines' images from VRAM by a table of contents.
 * polaris.md 4.4. What is wrong with an entry leaves its bit of UcodeLoadStatus 0 for ever, which
 * is all a driver ever learns; the log says why.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/virtual/card/card_priv.h"

#define TOC_VERSION     1u
#define TOC_HEADER      8u
#define TOC_ENTRY       28u
#define TOC_MAX         16u
#define PRIVATE_BYTES   (200u * 4096) /* polaris.md 4.4 */
#define IMAGE_ALIGNMENT 4096u
#define IMAGE_MAX       (1u << 20) /* model's own; the largest is a quarter of it */
#define FLAG_UNHALT     1u

struct entry {
	uint32_t id, bytes, flags, registers;
	uint64_t image; /* MC address */
	uint64_t metadata;
};

struct toc {
	struct entry entry[TOC_MAX];
	uint32_t count;
};

static uint32_t refuse(struct vcard *c, const char *what)
{
	card_guest_error(c, "LoadUcodes refused: %s", what);
	return 0;
}

static struct entry parse_entry(const uint8_t *p)
{
	return (struct entry){.id = get_le16(p),
	        .image = (uint64_t)get_le32(p + 4) << 32 | get_le32(p + 8),
	        .metadata = (uint64_t)get_le32(p + 12) << 32 | get_le32(p + 16),
	        .bytes = get_le32(p + 20),
	        .flags = get_le16(p + 24),
	        .registers = get_le16(p + 26)};
}

static const char *read_toc(struct vcard *c, struct toc *t)
{
	uint8_t raw[TOC_HEADER + TOC_MAX * TOC_ENTRY];
	uint64_t at;

	if (!card_vram_offset(c, c->smu.toc, sizeof(raw), &at) || c->smu.toc % 4)
		return "the table of contents is not at an address in VRAM";
	vmem_dram_read(c->mem, at, raw, sizeof(raw));
	t->count = get_le32(raw + 4);
	if (get_le32(raw) != TOC_VERSION)
		return "the table of contents is not version 1 (was HDP flushed?)";
	if (!t->count || t->count > TOC_MAX)
		return "the table of contents has no entries, or more than 16";
	for (uint32_t i = 0; i < t->count; i++)
		t->entry[i] = parse_entry(raw + TOC_HEADER + i * TOC_ENTRY);
	return NULL;
}

static const char *buffer_wrong(struct vcard *c)
{
	uint64_t at;

	if (c->smu.buffer % 4096 || !card_vram_offset(c, c->smu.buffer, PRIVATE_BYTES, &at))
		return "the SMU's private buffer is not page aligned in VRAM";
	return NULL;
}

static bool overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	return a < b + bn && b < a + an;
}

static const struct entry *find(const struct toc *t, uint32_t id)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->entry[i].id == id)
			return &t->entry[i];
	return NULL;
}

static const char *entry_wrong(struct vcard *c, const struct toc *t, const struct entry *e)
{
	bool unhalts = e->id == UCODE_RLC || e->id == UCODE_MEC;
	uint64_t at;

	if (find(t, e->id) != e)
		return "its id occurs twice";
	if (e->bytes % 4 || !e->bytes || e->bytes > IMAGE_MAX)
		return "its size is impossible";
	if (e->image % IMAGE_ALIGNMENT)
		return "its address is not a multiple of 4 KiB";
	if (!card_vram_offset(c, e->image, e->bytes, &at))
		return "it is not in VRAM";
	if (overlap(e->image, e->bytes, c->smu.buffer, PRIVATE_BYTES))
		return "it overlaps the SMU's private buffer";
	if (overlap(e->image, e->bytes, c->smu.toc, TOC_HEADER + t->count * TOC_ENTRY))
		return "it overlaps the table of contents";
	if (e->flags & ~(unhalts ? FLAG_UNHALT : 0u) || e->registers || e->metadata)
		return "its flags, register count or metadata address is not what this kind has";
	return NULL;
}

static const char *check_image(struct vcard *c, const struct entry *e, uint32_t kind)
{
	uint8_t *image = malloc(e->bytes);
	const char *why = "the host has no memory to check it";
	uint64_t at;

	if (image && card_vram_offset(c, e->image, e->bytes, &at)) {
		vmem_dram_read(c->mem, at, image, e->bytes);
		why = card_ucode_wrong(image, e->bytes, 0, kind);
	}
	free(image);
	return why;
}

/* The MEC's entry leaves out the jump table at its end; both MECs are shown it by entries of their
 * own, as a stand-in of the first one's kind (polaris.md 4.4, standin.h). */
static const char *jump_tables_wrong(struct vcard *c, const struct toc *t)
{
	static const uint32_t ids[] = {UCODE_JT1, UCODE_JT2};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct entry *e = find(t, ids[i]);
		const char *why =
		        e ? entry_wrong(c, t, e) : "a jump table entry (ids 7 and 8) is missing";

		if (!why)
			why = check_image(c, e, UCODE_JT1);
		if (why)
			return why;
	}
	return NULL;
}

static const char *load_one(struct vcard *c, const struct toc *t, uint32_t id)
{
	const struct entry *e = find(t, id);
	const char *why = e ? entry_wrong(c, t, e) : "the table of contents does not have it";

	if (!why)
		why = check_image(c, e, id);
	if (!why && id == UCODE_MEC)
		why = jump_tables_wrong(c, t);
	return why;
}

uint32_t card_smu_load_ucodes(struct vcard *c, uint32_t mask)
{
	struct toc t;
	const char *why = card_mc_ready(c) ? buffer_wrong(c) : "there is no memory yet";
	uint32_t loaded = 0;

	if (!why)
		why = read_toc(c, &t);
	if (!why && (mask & ~UCODE_ALL || !mask))
		why = "the mask asks for images that nobody knows";
	if (why)
		return refuse(c, why);
	for (uint32_t id = 0; id < 32; id++) {
		if (!(mask & 1u << id))
			continue;
		why = load_one(c, &t, id);
		if (why)
			card_guest_error(c, "LoadUcodes: image %u refused: %s", id, why);
		else
			loaded |= 1u << id;
	}
	return loaded & ~c->fault[VCARD_FAULT_UCODE_STUCK];
}
