/* card_options.c - the card's options as words, and its birth with them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

#define MIN_AMBIENT  1
#define MAX_AMBIENT  60
#define MAX_FAULT_S  100000u
#define FAULT_LENGTH 64

static int number(const char *text, char end, unsigned long max, unsigned long *out)
{
	char *stop;

	errno = 0;
	*out = strtoul(text, &stop, 0);
	return errno || stop == text || *stop != end || *text == '-' || *out > max ? -EINVAL : 0;
}

static int parse_fault(struct venc_card_options *opt, const char *text)
{
	const char *at = strchr(text, '@');
	size_t len = at ? (size_t)(at - text) : strlen(text);
	char name[FAULT_LENGTH];
	enum vcard_fault fault;
	unsigned long after = 0;
	unsigned value;

	if (len >= sizeof(name) || opt->faults == ARRAY_SIZE(opt->fault))
		return -EINVAL;
	memcpy(name, text, len);
	name[len] = 0;
	if (vcard_fault_parse(name, &fault, &value) ||
	        (at && number(at + 1, 0, MAX_FAULT_S, &after)))
		return -EINVAL;
	opt->fault[opt->faults].fault = fault;
	opt->fault[opt->faults].value = value;
	opt->fault[opt->faults++].after_s = (unsigned)after;
	return 0;
}

static int parse_spoil(struct venc_card_options *opt, const char *text)
{
	bool smc = !strncmp(text, "smc:", 4);
	const char *colon;
	unsigned long address, flip;

	text += smc ? 4 : 0;
	colon = strchr(text, ':');
	if (!colon || opt->spoils == ARRAY_SIZE(opt->spoil) ||
	        number(text, ':', UINT32_MAX, &address) || number(colon + 1, 0, UINT32_MAX, &flip))
		return -EINVAL;
	opt->spoil[opt->spoils].smc = smc;
	opt->spoil[opt->spoils].address = (uint32_t)address;
	opt->spoil[opt->spoils++].flip = (uint32_t)flip;
	return 0;
}

static int parse_vbios(struct venc_card_options *opt, const char *text)
{
	if (!*text || strlen(text) >= sizeof(opt->vbios))
		return -EINVAL;
	strcpy(opt->vbios, text);
	return 0;
}

int venc_card_option(struct venc_card_options *opt, const char *word)
{
	unsigned long n;

	if (!strcmp(word, "cold") || !strcmp(word, "posted")) {
		opt->cold = *word == 'c';
		return 0;
	}
	if (!strncmp(word, "vbios=", 6))
		return parse_vbios(opt, word + 6);
	if (!strncmp(word, "fault=", 6))
		return parse_fault(opt, word + 6);
	if (!strncmp(word, "spoil=", 6))
		return parse_spoil(opt, word + 6);
	if (strncmp(word, "ambient=", 8) != 0 || number(word + 8, 0, MAX_AMBIENT, &n) ||
	        n < MIN_AMBIENT)
		return -EINVAL;
	opt->ambient = (int)n;
	return 0;
}

static void break_card(struct venc *e)
{
	const struct venc_card_options *o = &e->opt.card;

	for (unsigned i = 0; i < o->faults; i++)
		vcard_inject_later(e->card, (enum vcard_fault)o->fault[i].fault, o->fault[i].value,
		        o->fault[i].after_s * 1000ull);
	for (unsigned i = 0; i < o->spoils; i++)
		vcard_spoil(e->card, o->spoil[i].smc, o->spoil[i].address, o->spoil[i].flip);
}

int venc_card_new(struct venc *e)
{
	struct vcard_options opt = {
	        .cold = e->opt.card.cold,
	        .vbios = *e->opt.card.vbios ? e->opt.card.vbios : NULL,
	        .ambient = e->opt.card.ambient,
	        .vram_bytes = e->opt.vram_bytes,
	        .threads = e->opt.threads,
	        .log = e->opt.log,
	        .log_ctx = e->opt.log_ctx,
	};
	int err = e->opt.start_unpowered ? 0 : vcard_new(&e->card, &opt);

	if (!err && e->card)
		break_card(e);
	return err;
}

struct vcard *venc_card(struct venc *e)
{
	return e->card;
}
