/* helper_config.c - see helper_config.h. */
#include "helper_config.h"

#include <stdlib.h>

#include "device/log.h"

static struct config *self(struct bridge *b)
{
	return (struct config *)b;
}

uint32_t config_get(const struct config *c, unsigned reg)
{
	return c->value[reg / 4];
}

void config_set(struct config *c, unsigned reg, uint32_t value, uint32_t writable)
{
	c->value[reg / 4] = value;
	c->writable[reg / 4] = writable;
}

void config_bar(struct config *c, unsigned i, uint64_t addr, uint64_t size, uint32_t type)
{
	config_set(c, AT_BAR(i), (uint32_t)addr | type, (uint32_t)~(size - 1));
	if ((type & 6) == 4)
		config_set(c, AT_BAR(i + 1), (uint32_t)(addr >> 32), (uint32_t)(~(size - 1) >> 32));
}

void config_no_bar(struct config *c, unsigned i)
{
	config_set(c, AT_BAR(i), 0, 0);
}

static uint32_t lanes(unsigned reg, unsigned size)
{
	return (uint32_t)(((1ull << 8 * size) - 1) << 8 * (reg & 3));
}

static int cfg_read(struct bridge *b, unsigned reg, unsigned size, uint32_t *value)
{
	struct config *c = self(b);

	assert_true((size == 1 || size == 2 || size == 4) && reg % size == 0 && reg < 256);
	c->reads++;
	uint32_t v = c->dead ? 0xFFFFFFFF : c->value[reg / 4];

	*value = (v & lanes(reg, size)) >> 8 * (reg & 3);
	return 0;
}

static int cfg_write(struct bridge *b, unsigned reg, unsigned size, uint32_t value)
{
	struct config *c = self(b);
	uint32_t mask = lanes(reg, size) & c->writable[reg / 4];

	assert_true((size == 1 || size == 2 || size == 4) && reg % size == 0 && reg < 256);
	c->writes++;
	if (c->dead)
		return 0;
	if (reg >= AT_BAR(0) && reg < AT_BAR(6) && c->value[AT_COMMAND / 4] & COMMAND_MEM)
		c->bad_sizing++;
	c->value[reg / 4] = (c->value[reg / 4] & ~mask) | (value << 8 * (reg & 3) & mask);
	return 0;
}

static int function_read(struct bridge *b, unsigned fn, unsigned reg, uint32_t *value)
{
	*value = fn == 1 && reg == 0 ? self(b)->audio_id : 0xFFFFFFFF;
	return self(b)->info.ability_function_1 ? 0 : -ENOTSUP;
}

static void nothing(void *ctx)
{
	(void)ctx;
}

static int mem_read(struct bridge *b, uint64_t addr, void *buf, size_t len)
{
	struct config *c = self(b);

	c->read_at = addr;
	c->rom_when_read = config_get(c, AT_ROM);
	c->hooks_when_read = b->hooks.yield != NULL;
	memset(buf, 0x5A, len);
	return 0;
}

static void read_info(const struct bridge *b, struct bridge_info *out)
{
	*out = ((const struct config *)b)->info;
}

static const struct bridge_ops config_ops = {.cfg_read = cfg_read,
        .cfg_write = cfg_write,
        .function_read = function_read,
        .mem_read = mem_read,
        .read_info = read_info};

static void keep_line(void *ctx, enum log_level level, const char *line, int len)
{
	struct config *c = ctx;
	size_t at = strlen(c->said);

	(void)level;
	if (at + (size_t)len < CONFIG_SAID)
		memcpy(c->said + at, line, (size_t)len);
}

void config_said(const struct config *c, const char *word)
{
	if (!strstr(c->said, word))
		fail_msg("expected \"%s\" in the log, got:\n%s", word, c->said);
}

static void rx580_header(struct config *c)
{
	config_set(c, AT_ID, 0x67DF1002, 0);
	config_set(c, AT_COMMAND, 0x00100007, 0x00000547); /* status: there are capabilities */
	config_set(c, AT_CLASS, 0x030000E7, 0);
	config_set(c, AT_HEADER, 0x00800000, 0xFF);
	config_bar(c, 0, 0xF0000000, 256ull << 20, 0xC); /* bridge.md 2.14 */
	config_bar(c, 2, 0xE0200000, 2u << 20, 0xC);
	config_bar(c, 4, 0xD0000100, 0x100, 1);
	config_bar(c, 5, 0xE0040000, 0x40000, 0);
	config_set(c, 0x2C, 0xE3661DA2, 0);
	config_set(c, AT_ROM, 0, 0xFFFE0001);
	config_set(c, AT_CAPS, 0x50, 0);
	config_set(c, 0x50, 0x00035801, 0);
	config_set(c, 0x58, 0x00120010, 0);
	config_set(c, 0x68, 0x10110000, 0); /* link status: generation 1, one lane */
}

int config_setup(void **state)
{
	struct config *c = calloc(1, sizeof(*c));

	if (!c)
		return -1;
	c->bridge.ops = &config_ops;
	c->bridge.hooks.yield = nothing;
	c->info = (struct bridge_info){.assigns_bars = true,
	        .reach_start = 0x20000000,
	        .reach_end = 1ull << 32,
	        .link = {.known = true, .up = true}};
	c->audio_id = 0xAAF01002;
	rx580_header(c);
	rx_log_set_stderr(false);
	rx_log_set_sink(keep_line, c);
	*state = c;
	return pci_new(&c->pci, &c->bridge);
}

int config_teardown(void **state)
{
	struct config *c = *state;

	rx_log_set_sink(NULL, NULL);
	pci_free(c->pci);
	free(c);
	return 0;
}
