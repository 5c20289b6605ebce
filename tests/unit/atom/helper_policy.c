#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "helper_policy.h"

#define CELLS (1u << 18) /* more than the events of any run */

/* spaces of policy E: registers, and the stores behind three index/data pairs */
enum { REG, SMC, MC, PCIE };

struct cell {
	uint32_t run; /* 0 or an older run: free */
	uint32_t space, at;
	uint32_t value, reads; /* reads since the last write */
};

struct policy {
	const uint8_t *image;
	size_t size;
	char letter;
	uint32_t seed, run;
	struct cell cells[CELLS];
};

struct policy *policy_new(const uint8_t *image, size_t size)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->image = image;
	p->size = size;
	return p;
}

void policy_free(struct policy *p)
{
	free(p);
}

void policy_reset(struct policy *p, char letter, uint32_t seed)
{
	p->letter = letter;
	p->seed = seed;
	p->run++;
}

static struct cell *cell(struct policy *p, uint32_t space, uint32_t at)
{
	uint32_t i = (at * 0x9E3779B1u ^ space * 0x85EBCA6Bu) % CELLS;

	while (p->cells[i].run == p->run && (p->cells[i].space != space || p->cells[i].at != at))
		i = (i + 1) % CELLS;
	if (p->cells[i].run != p->run)
		p->cells[i] = (struct cell){.run = p->run, .space = space, .at = at};
	return &p->cells[i];
}

static uint32_t h32(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7FEB352D;
	x ^= x >> 15;
	x *= 0x846CA68B;
	return x ^ x >> 16;
}

/* rule 2: ROM_DATA */
static uint32_t rom_data(struct policy *p)
{
	struct cell *index = cell(p, SMC, 0xC0600010);
	uint32_t at = index->value & 0xFFFFFC;

	index->value += 4;
	return range_ok(at, 4, p->size) ? get_le32(p->image + at) : 0;
}

static uint32_t smc_read(struct policy *p, uint32_t at)
{
	uint32_t v = cell(p, SMC, at)->value;

	switch (at) {
	case 0xC0600014: return rom_data(p);
	case 0xC0300044:
	case 0xC030004C: return v & ~1u;
	case 0xC0500278:
	case 0xC05002F4: return v | 3;
	default: return v;
	}
}

/* behind - the register that MM_DATA (1) shows, or 1 itself. */
static uint32_t behind(struct policy *p, uint32_t reg)
{
	uint32_t other = cell(p, REG, 0)->value >> 2;

	return reg == 1 && other > 1 ? other : reg;
}

static uint32_t card_read(struct policy *p, uint32_t reg)
{
	uint32_t r = behind(p, reg), v = cell(p, REG, r)->value;

	switch (r) {
	case 0x0083: return smc_read(p, cell(p, REG, 0x0082)->value);
	case 0x0A92: return cell(p, MC, cell(p, REG, 0x0A91)->value)->value;
	case 0x000F: return cell(p, PCIE, cell(p, REG, 0x000E)->value)->value;
	case 0x0AE7: return (v & 0xFFFF00FF) | (v & 0xFF) << 8;
	case 0x0A80: return cell(p, REG, 0x0A32)->value & 1 ? v | 0x80 : v;
	case 0x16F6: return (v | 0x10) & ~0x600u;
	default: return v;
	}
}

uint32_t policy_read(struct policy *p, uint32_t reg)
{
	struct cell *c = cell(p, REG, reg);
	uint32_t n = ++c->reads;

	switch (p->letter) {
	case 'B': return n == 1 ? c->value : n % 2 ? 0 : 0xFFFFFFFF;
	case 'C': return h32(reg * 0x9E3779B1u ^ h32(n + p->seed));
	case 'D': return n <= 16 ? c->value : n % 2 ? 0xFFFFFFFF : 0;
	case 'E': return card_read(p, reg);
	default: return c->value;
	}
}

void policy_write(struct policy *p, uint32_t reg, uint32_t value)
{
	uint32_t r = p->letter == 'E' ? behind(p, reg) : reg;
	struct cell *c = cell(p, REG, r);

	if (p->letter == 'E' && r == 0x0083)
		c = cell(p, SMC, cell(p, REG, 0x0082)->value);
	else if (p->letter == 'E' && r == 0x0A92)
		c = cell(p, MC, cell(p, REG, 0x0A91)->value);
	else if (p->letter == 'E' && r == 0x000F)
		c = cell(p, PCIE, cell(p, REG, 0x000E)->value);
	c->value = value;
	c->reads = 0;
}
