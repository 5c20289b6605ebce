/* nodes_pci.c - pci/ laid out as sysfs has it, for lspci -O sysfs.path (interface.md 2.2): the
 * card's function 0, and its audio function where the bridge reaches that.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "fs/nodes.h"

/* The address an lspci of this tree shows; the enclosure's bus is not the host's. */
#define CARD_ADDRESS  "0000:03:00.0"
#define AUDIO_ADDRESS "0000:03:00.1"
#define AUDIO         1    /* function; bridge.md 4.2 */
#define AUDIO_CONFIG  256u /* bytes shown: a dword of it takes some ten commands */
#define NOBODY        0xFFFFFFFFu

struct bar {
	unsigned reg;   /* offset in configuration space; polaris.md 1.2 */
	uint64_t size;  /* 0: what BAR0 shows, rx_info.vram_window */
	bool wide;      /* 64-bit: two registers */
	uint64_t flags; /* linux/ioport.h: IORESOURCE_IO 0x100, _MEM 0x200, _PREFETCH 0x2000,
	                   _MEM_64 0x100000, _ROM_ENABLE 1, low bits as in the BAR */
};

#define RESOURCES 7u /* six BARs, ROM */

static const struct bar card_bars[RESOURCES] = {
        {0x10, 0, true, 0x14220c}, {0}, {0x18, 2u << 20, true, 0x14220c}, /* doorbells */
        {0}, {0x20, 0x100, false, 0x40101},                               /* I/O */
        {0x24, 0x40000, false, 0x40200},                                  /* registers */
        {0x30, 0x20000, false, 0x46200},                                  /* ROM */
};

/* what lspci shows of such cards; nobody gives it an address, nothing here uses it */
static const struct bar audio_bars[RESOURCES] = {{0x10, 0x4000, true, 0x140204}};

/* One function of the card as it was read. */
struct function {
	unsigned number;
	const char *address;
	const struct bar *bars;
	uint8_t cfg[64];
	uint64_t config_size, window;
};

static const struct attribute {
	const char *name;
	unsigned offset, bytes; /* in configuration space, PCI 3.0 6.1 */
} attributes[] = {
        {"vendor", 0x00, 2},
        {"device", 0x02, 2},
        {"revision", 0x08, 1},
        {"class", 0x09, 3},
        {"subsystem_vendor", 0x2c, 2},
        {"subsystem_device", 0x2e, 2},
};

/* Texts are made once: they are facts of the board. */
static int pci_text(struct fs *fs, struct node *n, struct text *out)
{
	(void)fs;
	text_printf(out, "%s", (const char *)n->obj);
	return 0;
}

static void pci_text_destroy(struct fs *fs, struct node *n)
{
	(void)fs;
	free(n->obj);
}

const struct node_ops pci_text_ops = {.text = pci_text, .destroy = pci_text_destroy};

static unsigned access_size(uint64_t offset, size_t left)
{
	if (offset % 4 == 0 && left >= 4)
		return 4;
	return offset % 2 == 0 && left >= 2 ? 2 : 1;
}

/* Which function a config node is of: obj, which other nodes have for a pointer, is its number. */
static unsigned function_of(const struct node *n)
{
	return (unsigned)(uintptr_t)n->obj;
}

static int config_read(struct fs *fs, unsigned function, unsigned at, unsigned n, uint32_t *v)
{
	if (!fs->rx)
		return -ENODEV;
	if (!function)
		return rx_cfg_read(fs->rx, at, n, v);
	int err = rx_function_read(fs->rx, function, at & ~3u, v);

	*v >>= 8 * (at & 3);
	return err;
}

static int pci_config_read(struct request *r)
{
	for (size_t at = 0; at < r->size;) {
		unsigned n = access_size(r->offset + at, r->size - at);
		uint32_t v = 0;
		int err =
		        config_read(r->fs, function_of(r->node), (unsigned)(r->offset + at), n, &v);

		if (err)
			return err;
		for (unsigned i = 0; i < n; i++)
			r->data[at + i] = (uint8_t)(v >> 8 * i);
		at += n;
	}
	return (int)r->size;
}

static int pci_config_write(struct request *r)
{
	uint32_t v = 0;

	if (function_of(r->node))
		return rx_fail("fs", -EPERM, "config: the audio function is only shown");
	if ((r->size != 1 && r->size != 2 && r->size != 4) || r->offset % r->size)
		return rx_fail("fs", -EINVAL, "config: write 1, 2 or 4 aligned bytes at a time");
	for (size_t i = 0; i < r->size; i++)
		v |= (uint32_t)r->data[i] << 8 * i;
	int err = r->fs->rx ? rx_cfg_write(r->fs->rx, (unsigned)r->offset, (unsigned)r->size, v)
	                    : -ENODEV;

	return err ? err : (int)r->size;
}

const struct node_ops pci_config_ops = {.read = pci_config_read, .write = pci_config_write};

/* sysfs wants a 1 before the ROM is read; copied recipes keep working. */
static int pci_rom_write(struct request *r)
{
	bool ok = (r->data[0] == '0' || r->data[0] == '1') &&
	          (r->size == 1 || (r->size == 2 && r->data[1] == '\n'));

	return ok ? (int)r->size : -EINVAL;
}

static int pci_rom_read(struct request *r)
{
	return bios_ops.read(r);
}

const struct node_ops pci_rom_ops = {.read = pci_rom_read, .write = pci_rom_write};

static int add_text(struct fs *fs, struct node *dir, const char *name, struct text *t)
{
	struct node *n = t->failed ? NULL : tree_add(fs, dir, name, NODE_PCI_TEXT);

	if (!n) {
		text_free(t);
		return -ENOMEM;
	}
	n->obj = t->data;
	*t = (struct text){0};
	return 0;
}

static uint32_t config_value(const uint8_t *cfg, unsigned offset, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)cfg[offset + i] << 8 * i;
	return v;
}

static int add_resource(struct fs *fs, struct node *dir, const struct function *f)
{
	struct text t = {0};

	/* thirteen lines: six BARs, ROM, six bridge windows (Linux pci-sysfs.c resource_show) */
	for (size_t i = 0; i < 13; i++) {
		const struct bar *b = i < RESOURCES ? &f->bars[i] : &card_bars[1];
		uint64_t low = b->reg ? get_le32(f->cfg + b->reg) : 0, start = 0, size = 0;

		if (low) {
			start = low & (b->flags & 0x100        ? ~3ull
			                      : b->reg == 0x30 ? ~0x7ffull
			                                       : ~15ull);
			start |= b->wide ? (uint64_t)get_le32(f->cfg + b->reg + 4) << 32 : 0;
			size = b->size ? b->size : f->window;
		}
		text_printf(&t, "0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016" PRIx64 "\n", start,
		        start ? start + size - 1 : 0, start ? b->flags : 0);
	}
	return add_text(fs, dir, "resource", &t);
}

static int add_texts(struct fs *fs, struct node *dir, const struct function *f)
{
	int err = add_resource(fs, dir, f);

	for (size_t i = 0; !err && i < ARRAY_SIZE(attributes); i++) {
		const struct attribute *a = &attributes[i];
		struct text t = {0};

		text_printf(&t, "0x%0*x\n", (int)a->bytes * 2,
		        config_value(f->cfg, a->offset, a->bytes));
		err = add_text(fs, dir, a->name, &t);
	}
	struct text irq = {0};

	text_printf(&irq, "%u\n", 0u); /* the bridge delivers no interrupts */
	return err ? (text_free(&irq), err) : add_text(fs, dir, "irq", &irq);
}

static int add_function(struct fs *fs, struct node *devices, const struct function *f)
{
	struct node *dir = tree_add(fs, devices, f->address, NODE_PCI_ADDR);
	struct node *config = dir ? tree_add(fs, dir, "config", NODE_PCI_CONFIG) : NULL;

	if (!config)
		return -ENOMEM;
	config->size = f->config_size;
	config->obj = (void *)(uintptr_t)f->number;
	if (f->number)
		config->mode = 0400; /* pci_config_write */
	if (!f->number) {
		struct node *rom = tree_add(fs, dir, "rom", NODE_PCI_ROM);

		if (!rom)
			return -ENOMEM;
		rom->size = tree_find(fs->root, "bios")->size;
	}
	return add_texts(fs, dir, f);
}

/* Sizes that depend on the card, and the folders of its functions. fs->lock held. */
static int build(struct fs *fs, const struct function *card, const struct function *audio,
        size_t flash_bytes)
{
	struct node *pci = tree_find(fs->root, "pci"), *devices = tree_find(pci, "devices");
	struct node *link = tree_find(pci, "card"), *old;
	struct rx_info info;

	while ((old = devices->children) != NULL)
		tree_unlink(fs, old);
	fs_read_info(fs, &info);
	tree_find(fs->root, "bios")->size = flash_bytes;
	tree_find(fs->root, "vram")->size = info.vram_total;
	tree_find(fs->root, "regs")->size = 262144; /* interface.md 6, BAR5 */
	if (!link->target && !(link->target = strdup("devices/" CARD_ADDRESS)))
		return -ENOMEM;
	int err = add_function(fs, devices, card);

	return err || !audio->config_size ? err : add_function(fs, devices, audio);
}

static int read_card(struct fs *fs, struct function *f)
{
	struct rx_info info;
	uint32_t v;
	int err = 0;

	for (unsigned at = 0; at < sizeof(f->cfg) && !err; at += 4) {
		err = rx_cfg_read(fs->rx, at, 4, &v);
		put_le32(f->cfg + at, v);
	}
	if (err)
		return err;
	/* extended space answers all ones when it is not there (PCIe 3.0 7.9.1) */
	bool extended = rx_cfg_read(fs->rx, 0x100, 4, &v) == 0 && v != NOBODY;

	f->config_size = extended ? 4096 : 256;
	rx_read_info(fs->rx, &info);
	f->window = info.vram_window;
	return 0;
}

/* read_audio - what the attributes need. config_size stays 0 when it cannot be reached. */
static int read_audio(struct fs *fs, struct function *f)
{
	static const unsigned needed[] = {0x00, 0x08, 0x10, 0x14, 0x2C}; /* PCI 3.0 6.1 */

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		uint32_t v;
		int err = rx_function_read(fs->rx, f->number, needed[i], &v);

		if (err == -ENODATA || (!err && !needed[i] && v == NOBODY))
			return 0;
		if (err)
			return err;
		put_le32(f->cfg + needed[i], v);
	}
	f->config_size = AUDIO_CONFIG;
	return 0;
}

int pci_build(struct fs *fs)
{
	struct function card = {.address = CARD_ADDRESS, .bars = card_bars};
	struct function audio = {.number = AUDIO, .address = AUDIO_ADDRESS, .bars = audio_bars};
	size_t flash = 0;
	int err = read_card(fs, &card);

	if (!err)
		err = read_audio(fs, &audio);
	if (!err)
		err = rx_flash_bytes(fs->rx, &flash);
	if (err)
		return err;
	fs_lock(fs);
	err = build(fs, &card, &audio, flash);
	fs_unlock(fs);
	return err;
}
