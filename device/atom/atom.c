/* atom.c - opening an image, starting a run, and the words of its failure. */
#include <stdio.h>
#include <stdlib.h>

#include "device/atom/atom_priv.h"
#include "device/bytes.h"
#include "device/err.h"

#define DEFAULT_STEPS   (1ull << 26) /* ASIC_Init takes some 10^4 */
#define DEFAULT_LOOP_MS 20000        /* atombios.md 9: Linux' own guard */
#define DEFAULT_SCRATCH 20 /* KiB, when VRAM_UsageByFirmware asks for none: atombios.md 6.8 */

static const char *const opcode_names[ATOM_OPCODES] = {
#define X_6(name, first)                                                                           \
	[first] = #name "_REG", [(first) + 1] = #name "_PS", [(first) + 2] = #name "_WS",          \
	[(first) + 3] = #name "_FB", [(first) + 4] = #name "_PLL", [(first) + 5] = #name "_MC"
#define X_2(name, first)      [first] = #name "_PS", [(first) + 1] = #name "_WS"
#define X(name, first, count) X_##count(name, first),
        ATOM_FAMILIES(X)
#undef X
#define X(name, code) [code] = #name,
                ATOM_SINGLES(X)
#undef X
};

void atom_stop(struct frame *f, int err, const char *fmt, ...)
{
	const char *name =
	        f->opcode < ATOM_OPCODES && opcode_names[f->opcode] ? opcode_names[f->opcode] : "?";
	char text[160];
	va_list ap;

	f->err = err;
	if (f->a->said)
		return;
	f->a->said = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rx_log(LOG_ERROR, "atom", "table %u (%s) at 0x%04x, opcode 0x%02x (%s): %s", f->table,
	        vbios_command_name(f->table), f->a->where, f->opcode, name, text);
}

void atom_complain(struct frame *f, enum atom_complaint what)
{
	static const char *const words[] = {
	        [ATOM_FB_READ_OOB] = "reads outside the scratch memory",
	        [ATOM_FB_WRITE_OOB] = "writes outside the scratch memory",
	        [ATOM_PS_OOB] = "names a parameter that was not given",
	        [ATOM_WS_OOB] = "names a dword outside its workspace",
	        [ATOM_BAD_CASE] = "has a broken list of cases",
	        [ATOM_IIO_UNDEFINED] = "uses an I/O port without a program",
	};
	const struct atom_host *h = &f->a->host;
	bool harmless = what == ATOM_FB_READ_OOB || what == ATOM_FB_WRITE_OOB;
	int err = h->complain ? h->complain(h->ctx, what) : harmless ? 0 : -EINVAL;

	if (err && !f->err)
		atom_stop(f, err, "%s", words[what]);
}

uint32_t atom_host_read(struct frame *f, uint32_t reg)
{
	const struct atom_host *h = &f->a->host;
	uint32_t value = 0;

	if (f->err)
		return 0;
	int err = h->reg_read(h->ctx, reg, &value);

	if (err)
		atom_stop(f, err, "read of register 0x%x failed", reg);
	return value;
}

void atom_host_write(struct frame *f, uint32_t reg, uint32_t value)
{
	const struct atom_host *h = &f->a->host;
	int err = f->err ? f->err : h->reg_write(h->ctx, reg, value);

	if (err)
		atom_stop(f, err, "write of 0x%08x to register 0x%x failed", value, reg);
}

/* make_scratch - as much as VRAM_UsageByFirmware asks for (offset 8, KiB): atombios.md 6.8, 10.2 */
static int make_scratch(struct atom *a)
{
	const struct vbios_table *t = &a->rom.table[ATOM_DATA_VRAM_UsageByFirmware];
	uint32_t kib = t->size >= 10 ? get_le16(a->rom.data + t->offset + 8) : 0;

	a->scratch_bytes = (kib ? kib : DEFAULT_SCRATCH) * 1024;
	a->scratch = calloc(a->scratch_bytes / 4 + 1, 4);
	return a->scratch ? 0 : -ENOMEM;
}

int atom_open(struct atom **out, const uint8_t *image, size_t size, const struct atom_host *host)
{
	struct atom *a = calloc(1, sizeof(*a));
	int err = a ? vbios_rom_parse(&a->rom, image, size) : -ENOMEM;

	if (!err)
		err = atom_iio_open(a);
	if (!err)
		err = make_scratch(a);
	if (err) {
		atom_close(a);
		return err;
	}
	a->host = *host;
	atom_set_limits(a, &(struct atom_limits){0});
	*out = a;
	return 0;
}

void atom_close(struct atom *a)
{
	if (!a)
		return;
	free(a->scratch);
	free(a);
}

void atom_set_limits(struct atom *a, const struct atom_limits *limits)
{
	a->limits = *limits;
	if (!a->limits.max_steps)
		a->limits.max_steps = DEFAULT_STEPS;
	if (!a->limits.loop_ms)
		a->limits.loop_ms = DEFAULT_LOOP_MS;
}

int atom_run(struct atom *a, unsigned table, uint32_t *params, unsigned n)
{
	if (atom_table_revision(a, table) < 0)
		return rx_fail("atom", -ENOENT, "the image has no command table %u (%s)", table,
		        vbios_command_name(table));
	/* atombios.md 5: reset at a top-level call */
	a->data_block = a->reg_block = 0;
	a->fb_base = a->quotient = a->remainder = 0;
	a->port = 0;
	a->steps = 0;
	a->said = false;
	return atom_run_table(a, table, params, n, 0);
}

int atom_asic_init(struct atom *a)
{
	const struct vbios_table *t = &a->rom.table[ATOM_DATA_FirmwareInfo];
	uint32_t params[ATOM_PARAMS] = {0};

	if (t->size < 16)
		return rx_fail("atom", -EINVAL, "the image has no FirmwareInfo");
	params[0] = get_le32(a->rom.data + t->offset + 8); /* atombios.md 9 */
	params[1] = get_le32(a->rom.data + t->offset + 12);
	if (!params[0] || !params[1])
		return rx_fail("atom", -EINVAL,
		        "FirmwareInfo: default clocks %u and %u, not above 0", params[0],
		        params[1]);
	return atom_run(a, ATOM_CMD_ASIC_Init, params, ATOM_PARAMS);
}

int atom_table_revision(const struct atom *a, unsigned table)
{
	if (table >= ATOM_COMMAND_COUNT || !a->rom.command[table].size)
		return -ENOENT;
	return a->rom.command[table].major << 8 | a->rom.command[table].minor;
}

uint32_t atom_where(const struct atom *a)
{
	return a->where;
}

const uint32_t *atom_scratch(const struct atom *a, size_t *bytes)
{
	if (bytes)
		*bytes = a->scratch_bytes;
	return a->scratch;
}
