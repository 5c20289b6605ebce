/* faults.c - faults on request, and time on request. */
#include <errno.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/virtual/card/card_priv.h"

uint64_t vcard_now(struct vcard *c)
{
	uint64_t held = atomic_load(&c->held_ns);

	return held ? held : now_ns() + atomic_load(&c->time_ahead_ns);
}

void vcard_hold_time(struct vcard *c)
{
	pthread_mutex_lock(&c->lock);
	atomic_store(&c->held_ns, vcard_now(c));
	pthread_mutex_unlock(&c->lock);
}

void vcard_advance(struct vcard *c, uint64_t ms)
{
	pthread_mutex_lock(&c->lock);
	card_heat_update(c);
	if (c->held_ns)
		c->held_ns += ms * 1000000;
	else
		c->time_ahead_ns += ms * 1000000;
	card_fault_tick(c);
	card_smu_tick(c);
	card_heat_update(c);
	pthread_mutex_unlock(&c->lock);
}

void vcard_inject(struct vcard *c, enum vcard_fault fault, unsigned value)
{
	pthread_mutex_lock(&c->lock);
	card_heat_update(c);
	if (fault < VCARD_FAULT_COUNT)
		c->fault[fault] = value;
	for (unsigned i = 0; i < CARD_PIPES; i++)
		card_cp_poke(&c->pipe[i]);
	pthread_mutex_unlock(&c->lock);
}

int vcard_inject_later(struct vcard *c, enum vcard_fault fault, unsigned value, uint64_t ms)
{
	int r = -ENOSPC;

	pthread_mutex_lock(&c->lock);
	if (c->laters < CARD_SPOILS && fault < VCARD_FAULT_COUNT) {
		c->later[c->laters].fault = fault;
		c->later[c->laters].value = value;
		c->later[c->laters++].at_ns = vcard_now(c) + ms * 1000000;
		r = 0;
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

void card_fault_tick(struct vcard *c)
{
	for (unsigned i = 0; i < c->laters;) {
		if (vcard_now(c) < c->later[i].at_ns) {
			i++;
			continue;
		}
		card_heat_update(c);
		c->fault[c->later[i].fault] = c->later[i].value;
		c->later[i] = c->later[--c->laters];
	}
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

uint32_t card_fault_spoil(const struct vcard *c, bool smc, uint32_t address, uint32_t value)
{
	for (unsigned i = 0; i < CARD_SPOILS; i++)
		if (c->spoil[i].flip && c->spoil[i].smc == smc && c->spoil[i].address == address)
			return value ^ c->spoil[i].flip;
	return value;
}
