/* faults.c - faults on request, and time on request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

uint64_t card_now(struct vcard *c)
{
	return now_ns() + c->time_ahead_ns;
}

void vcard_advance(struct vcard *c, uint64_t ms)
{
	pthread_mutex_lock(&c->lock);
	heat_update(c);
	c->time_ahead_ns += ms * 1000000;
	card_smu_tick(c);
	heat_update(c);
	pthread_mutex_unlock(&c->lock);
}

void vcard_inject(struct vcard *c, enum vcard_fault fault, unsigned value)
{
	pthread_mutex_lock(&c->lock);
	heat_update(c);
	if (fault < VCARD_FAULT_COUNT)
		c->fault[fault] = value;
	for (unsigned i = 0; i < CARD_PIPES; i++)
		cp_poke(&c->pipe[i]);
	pthread_mutex_unlock(&c->lock);
}

static const struct {
	const char *name;
	enum vcard_fault fault;
	bool wants_value;
	unsigned add; /* to the value given */
} names[] = {
        {"fan-stuck", VCARD_FAULT_FAN_STUCK, false, 0},
        {"smu-silent", VCARD_FAULT_SMU_SILENT, false, 0},
        {"smu-fails", VCARD_FAULT_SMU_FAILS, true, 0},
        {"smu-rejects", VCARD_FAULT_SMU_REJECTS, false, 0},
        {"ucode-stuck", VCARD_FAULT_UCODE_STUCK, true, 0},
        {"mec-dead", VCARD_FAULT_MEC_DEAD, false, 0},
        {"overheat", VCARD_FAULT_OVERHEAT, true, 0},
        {"mc-deaf", VCARD_FAULT_MC_DEAF, false, 0},
        {"load", VCARD_FAULT_LOAD, true, 1},
};

int vcard_fault_parse(const char *text, enum vcard_fault *fault, unsigned *value)
{
	size_t len = strcspn(text, "=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *end = NULL;
		unsigned long n = 1;

		if (strlen(names[i].name) != len || strncmp(text, names[i].name, len) != 0)
			continue;
		if (names[i].wants_value != (text[len] == '='))
			return -EINVAL;
		if (names[i].wants_value) {
			n = strtoul(text + len + 1, &end, 0);
			if (end == text + len + 1 || *end || n > 0xFFFF)
				return -EINVAL;
		}
		*fault = names[i].fault;
		*value = (unsigned)n + names[i].add;
		return 0;
	}
	return -EINVAL;
}

int vcard_spoil(struct vcard *c, bool smc, uint32_t address, uint32_t flip)
{
	int slot = -1;

	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < CARD_SPOILS; i++) {
		bool same = c->spoil[i].flip && c->spoil[i].smc == smc &&
		            c->spoil[i].address == address;

		if (same || (slot < 0 && !c->spoil[i].flip))
			slot = i;
		if (same)
			break;
	}
	if (slot >= 0) {
		c->spoil[slot].smc = smc;
		c->spoil[slot].address = address;
		c->spoil[slot].flip = flip;
	}
	pthread_mutex_unlock(&c->lock);
	return slot < 0 ? -ENOSPC : 0;
}

uint32_t fault_spoil(const struct vcard *c, bool smc, uint32_t address, uint32_t value)
{
	for (unsigned i = 0; i < CARD_SPOILS; i++)
		if (c->spoil[i].flip && c->spoil[i].smc == smc && c->spoil[i].address == address)
			return value ^ c->spoil[i].flip;
	return value;
}
