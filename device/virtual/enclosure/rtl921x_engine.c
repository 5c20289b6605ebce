/* rtl921x_engine.c - register block of a PCIe port: raw TLP engine, root complex DBI window, port
 * control (bridge.md 2.11-2.13). The firmware's own commands go through the same engine, so they
 * move the slot index too.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/venc_priv.h"

/* offsets in the port block, bridge.md 2.11-2.13 */
#define ENGINE_STATUS   0x0100
#define ENGINE_SLOT(n)  (0x0110 + 16 * (n))
#define ENGINE_SLOT_END 0x0150
#define ENGINE_DATA     0x0150
#define ENGINE_DATA_END 0x0350
#define ENGINE_MAX      31 /* dwords of one request: bridge.md 2.11, w1 bits 4:0 */
#define DBI_OFFSET      0x1000
#define DBI_WRITE_DATA  0x1004
#define DBI_READ_DATA   0x1008
#define DBI_CONTROL     0x100C
#define PORT_CONTROL    0x3100

#define STATUS_BUSY 0x80u /* bridge.md 2.11 */
/* w0, w1: bridge.md 2.11 */
#define W0_TYPE        0x1Fu
#define W0_MEMORY      0
#define W0_IO          2
#define W0_CONFIG0     4
#define W0_CONFIG1     5
#define W1_LENGTH      0x1Fu
#define W1_READ        0x20u
#define W1_WRITE       0x40u
#define W1_FIRST_BE(w) ((w) >> 8 & 0xF)
#define W1_LAST_BE(w)  ((w) >> 12 & 0xF)
#define W1_RELEASE     (1u << 28)
#define W1_START       (1u << 31)

/* bridge.md 2.13: enables and clocks 0 5 7 8 11 14 30, LTSSM 3, PERST# deasserted 15 */
#define PORT_CONTROL_UP 0x4000C9A9u
#define PERST_RELEASED  (1u << 15)
#define LINK_UP         (1u << 26)
#define LINK_STATES     (0xFu << 25) /* 25..28, read only */

/* bridge.md 2.12: read = 3, write = 0x7D */
#define DBI_READ  0x03
#define DBI_WRITE 0x7D
#define DBI_LINK  0x80

static void dbi_power_up(struct rc_port *p)
{
	/* plausible header of a DesignWare root port; the values of bridge.md 2.12 where it gives
	 * them */
	static const uint32_t header[][2] = {
	        {0x00, 0x921010EC},
	        {0x04, 0x00100007},
	        {0x08, 0x06040001},
	        {0x0C, 0x00010000},
	        {0x1C, 0x0000D0D0},
	        {0x34, 0x00000070},
	        {0x70, 0x00420010},
	        {0x7C, 0x00000023},
	        {0xA0, 0x00000003},
	        {0x710, 0x00030120},
	};

	memset(p->dbi, 0, sizeof(p->dbi));
	for (size_t i = 0; i < ARRAY_SIZE(header); i++)
		p->dbi[header[i][0] / 4] = header[i][1];
}

void venc_engine_power_up(struct venc *e, struct rc_port *p)
{
	memset(p, 0, sizeof(*p));
	p->control = p == &e->port[0] ? PORT_CONTROL_UP : 0;
	dbi_power_up(p);
}

/* The slot the engine would hand out next, or -1: all four are taken. */
static int free_slot(const struct rc_port *p)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = (p->next + i) & 3;

		if (!p->slot[n].taken)
			return (int)n;
	}
	return -1;
}

static uint32_t read_status(struct venc *e, const struct rc_port *p)
{
	int n = free_slot(p);

	if (n < 0 || venc_take_fault(e, VENC_FAULT_ENGINE_SLOW))
		return STATUS_BUSY | p->next << 3;
	return (uint32_t)n << 3;
}

/* Merge the bytes a completion carries; the others of the buffer stay. */
static uint32_t merge_lanes(uint32_t old, uint32_t new, uint8_t byte_enables)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < 4; i++)
		if (byte_enables >> i & 1)
			mask |= 0xFFu << 8 * i;
	return (old & ~mask) | (new &mask);
}

/* What is wrong with the length of a request, or NULL. */
static const char *length_defect(const struct venc *e, const struct engine_slot *s)
{
	uint32_t length = s->w[1] & W1_LENGTH;

	if (length != 1 && !(e->opt.engine & VENC_ENGINE_BURST))
		return "length other than one dword in w1";
	if (length != 1 && (s->w[0] & W0_TYPE) != W0_MEMORY)
		return "length other than one dword for configuration or I/O";
	/* PCIe base specification 2.2.5 and 2.2.7: byte enables, no request across 4 KiB */
	if (length == 1 && W1_LAST_BE(s->w[1]))
		return "last-dword byte enables with length 1 in w1";
	if (length != 1 && (!W1_FIRST_BE(s->w[1]) || !W1_LAST_BE(s->w[1])))
		return "no byte enables for the first or last dword in w1";
	if (!length || (s->w[2] & 0xFFF) + 4 * length > 0x1000)
		return "no dword, or across a boundary of 4 KiB";
	return NULL;
}

/* What is wrong with a request the firmware would never build (bridge.md 2.11), or NULL. */
static const char *slot_defect(const struct venc *e, const struct engine_slot *s)
{
	uint32_t direction = s->w[1] & (W1_READ | W1_WRITE), type = s->w[0] & W0_TYPE;

	if (s->w[0] & ~W0_TYPE)
		return "reserved bits of w0 set";
	if (type != W0_MEMORY && type != W0_IO && type != W0_CONFIG0 && type != W0_CONFIG1)
		return "unknown type in w0";
	if (direction != W1_READ && direction != W1_WRITE)
		return "no direction in w1";
	if (s->w[2] & 3)
		return "address in w2 not dword aligned";
	if (s->w[3] && type != W0_MEMORY)
		return "w3 without a memory request";
	return length_defect(e, s);
}

static struct vcard_tlp slot_request(const struct engine_slot *s)
{
	static const enum vcard_tlp_type reads[] = {[W0_MEMORY] = VCARD_MEM_READ,
	        [W0_IO] = VCARD_IO_READ,
	        [W0_CONFIG0] = VCARD_CFG_READ};
	static const enum vcard_tlp_type writes[] = {[W0_MEMORY] = VCARD_MEM_WRITE,
	        [W0_IO] = VCARD_IO_WRITE,
	        [W0_CONFIG0] = VCARD_CFG_WRITE};
	uint32_t type = s->w[0] & W0_TYPE;
	struct vcard_tlp tlp = {
	        .type = s->w[1] & W1_WRITE ? writes[type] : reads[type],
	        .address = (uint64_t)s->w[3] << 32 | s->w[2],
	        .byte_enables = (uint8_t)W1_FIRST_BE(s->w[1]),
	        .data = s->data[0],
	};

	if (type == W0_CONFIG0) /* bridge.md 2.11, w2: function at 18:16, register at 11:2 */
		tlp.address = (s->w[2] >> 16 & 7) << 12 | (s->w[2] & 0xFFC);
	return tlp;
}

/* Only bus 0 device 0 exists behind the port; a type 1 request has no bridge to pass. What the
 * firmware itself never asks for works only when the options say so. */
static bool nobody_there(const struct venc *e, const struct engine_slot *s)
{
	uint32_t type = s->w[0] & W0_TYPE;

	if (type == W0_CONFIG0 && s->w[2] >> 16 && !(e->opt.engine & VENC_ENGINE_FUNCTIONS))
		return true;
	if (s->w[3] && !(e->opt.engine & VENC_ENGINE_64BIT))
		return true;
	return type == W0_CONFIG1 || (type == W0_CONFIG0 && s->w[2] >> 19);
}

/* More than one dword: writes from the slot's buffer, reads into it. */
static enum vcard_completion run_burst(
        struct venc *e, struct rc_port *p, struct engine_slot *s, unsigned n)
{
	struct vcard_tlp tlp = slot_request(s);
	uint32_t data[ENGINE_MAX];

	memcpy(data, s->data, n * sizeof(*data));
	enum vcard_completion rc =
	        venc_root_port_burst(e, p, &tlp, data, n, (uint8_t)W1_LAST_BE(s->w[1]));

	if (rc == VCARD_SC && s->w[1] & W1_READ)
		memcpy(s->data, data, n * sizeof(*data));
	return rc;
}

static enum vcard_completion run_slot(struct venc *e, struct rc_port *p, struct engine_slot *s)
{
	enum vcard_completion rc;
	struct vcard_tlp tlp;

	if (nobody_there(e, s)) {
		if ((s->w[0] & W0_TYPE) != W0_CONFIG1 || e->opt.engine & VENC_ENGINE_TYPE1)
			venc_link_tlp(e);
		return VCARD_UR;
	}
	if ((s->w[1] & W1_LENGTH) > 1)
		return run_burst(e, p, s, s->w[1] & W1_LENGTH);
	tlp = slot_request(s);
	rc = venc_root_port_tlp(e, p, &tlp);
	if (rc == VCARD_SC && s->w[1] & W1_READ)
		s->data[0] = merge_lanes(s->data[0], tlp.data, tlp.byte_enables);
	return rc;
}

/* The start bit. A defect or a timeout leaves it set: whoever polls it gives up. */
static void start_slot(struct venc *e, struct rc_port *p, unsigned n)
{
	struct engine_slot *s = &p->slot[n];
	const char *defect = slot_defect(e, s);

	if ((int)n != free_slot(p))
		defect = "not the slot the status register offers";
	s->taken = true;
	p->next = (n + 1) & 3;
	if (defect) {
		venc_guest_error(e, "engine: slot %u: %s; request dropped", n, defect);
		return;
	}
	if (run_slot(e, p, s) == VCARD_TIMEOUT)
		return;
	s->w[1] &= ~W1_START;
	s->taken = e->opt.engine_needs_release;
}

static void write_w1(struct venc *e, struct rc_port *p, unsigned n, uint32_t value)
{
	struct engine_slot *s = &p->slot[n];

	s->w[1] = value;
	if (value & W1_RELEASE) {
		if (value & W1_START)
			venc_guest_error(e, "engine: slot %u: start and release in one write", n);
		s->w[1] &= ~(W1_START | W1_RELEASE);
		s->taken = false;
	} else if (value & W1_START) {
		start_slot(e, p, n);
	}
}

static void write_slot(struct venc *e, struct rc_port *p, uint32_t offset, uint32_t value)
{
	unsigned n = (offset - ENGINE_SLOT(0)) / 16, word = offset / 4 & 3;

	if (word == 1)
		write_w1(e, p, n, value);
	else
		p->slot[n].w[word] = value;
}

static uint32_t read_slot(struct venc *e, const struct rc_port *p, uint32_t offset)
{
	unsigned n = (offset - ENGINE_SLOT(0)) / 16, word = offset / 4 & 3;
	uint32_t value = p->slot[n].w[word];

	if (word == 1 && venc_take_fault(e, VENC_FAULT_ENGINE_SLOW))
		value |= W1_START;
	return value;
}

static uint32_t *data_word(struct rc_port *p, uint32_t offset)
{
	uint32_t at = offset - ENGINE_DATA;

	return &p->slot[at / 128].data[at % 128 / 4];
}

static uint32_t dbi_read(const struct venc *e, const struct rc_port *p, uint32_t at)
{
	if (at != DBI_LINK)
		return p->dbi[at / 4];
	/* bridge.md 2.12: speed 19:16, width 25:20 of the PCIe link status; bit 29 link active.
	 * Gen1 x1, as the card's own capability says */
	return (p->dbi[at / 4] & 0xFFFF) | (venc_root_port_link_up(e, p) ? 0x20110000u : 0);
}

static bool dbi_read_only(uint32_t at)
{
	return at == 0x00 || at == 0x08 || at == 0x34 || at == 0x70 || at == 0x7C;
}

static void dbi_control(struct venc *e, struct rc_port *p, uint32_t value)
{
	uint32_t at = p->dbi_offset;

	if (at & 3 || at >= sizeof(p->dbi))
		venc_guest_error(e, "dbi: offset 0x%x is no register", at);
	else if (value == DBI_READ)
		p->dbi_read_data = dbi_read(e, p, at);
	else if (value != DBI_WRITE)
		venc_guest_error(
		        e, "dbi: control 0x%x is neither read (3) nor write (0x7d)", value);
	else if (!dbi_read_only(at))
		p->dbi[at / 4] = p->dbi_write_data;
}

/* A rising PERST# edge resets the card; its BARs stay lost until the next enumeration. */
static void write_port_control(struct venc *e, struct rc_port *p, uint32_t value)
{
	bool released = value & ~p->control & PERST_RELEASED;

	p->control = value & ~LINK_STATES;
	if (released && p->linked && e->card)
		vcard_reset(e->card);
}

uint32_t venc_engine_read32(struct venc *e, struct rc_port *p, uint32_t offset)
{
	if (offset >= ENGINE_SLOT(0) && offset < ENGINE_SLOT_END)
		return read_slot(e, p, offset);
	if (offset >= ENGINE_DATA && offset < ENGINE_DATA_END)
		return *data_word(p, offset);
	switch (offset) {
	case ENGINE_STATUS: return read_status(e, p);
	case DBI_OFFSET: return p->dbi_offset;
	case DBI_WRITE_DATA: return p->dbi_write_data;
	case DBI_READ_DATA: return p->dbi_read_data;
	case DBI_CONTROL: return 0; /* bit 0 has cleared itself */
	case PORT_CONTROL: return p->control | (venc_root_port_link_up(e, p) ? LINK_UP : 0);
	default: return p->other[offset / 4];
	}
}

void venc_engine_write32(struct venc *e, struct rc_port *p, uint32_t offset, uint32_t value)
{
	if (offset >= ENGINE_SLOT(0) && offset < ENGINE_SLOT_END) {
		write_slot(e, p, offset, value);
		return;
	}
	if (offset >= ENGINE_DATA && offset < ENGINE_DATA_END) {
		*data_word(p, offset) = value;
		return;
	}
	switch (offset) {
	case DBI_OFFSET: p->dbi_offset = value; break;
	case DBI_WRITE_DATA: p->dbi_write_data = value; break;
	case DBI_CONTROL: dbi_control(e, p, value); break;
	case PORT_CONTROL: write_port_control(e, p, value); break;
	case ENGINE_STATUS:
	case DBI_READ_DATA: venc_guest_error(e, "engine: 0x%x is read only", offset); break;
	default: /* bridge.md 2.15 names what the host may write */
		venc_guest_error(e, "engine: port register 0x%x is not the host's", offset);
		p->other[offset / 4] = value;
	}
}

static uint32_t with_byte(uint32_t dword, uint32_t offset, uint8_t value)
{
	unsigned shift = 8 * (offset & 3);

	return (dword & ~(0xFFu << shift)) | (uint32_t)value << shift;
}

/* The start and release bits are in the last byte of w1. */
bool venc_engine_write8(struct venc *e, struct rc_port *p, uint32_t offset, uint8_t value)
{
	if (!(e->opt.engine & VENC_ENGINE_BYTES))
		return false;
	if (offset >= ENGINE_SLOT(0) && offset < ENGINE_SLOT_END) {
		unsigned n = (offset - ENGINE_SLOT(0)) / 16, word = offset / 4 & 3;
		uint32_t now = with_byte(p->slot[n].w[word], offset, value);

		if (word == 1 && (offset & 3) == 3)
			write_w1(e, p, n, now);
		else
			p->slot[n].w[word] = now;
		return true;
	}
	if (offset >= ENGINE_DATA && offset < ENGINE_DATA_END) {
		*data_word(p, offset) = with_byte(*data_word(p, offset), offset, value);
		return true;
	}
	return false;
}

static uint32_t firmware_type(const struct vcard_tlp *tlp)
{
	return tlp->type == VCARD_MEM_READ || tlp->type == VCARD_MEM_WRITE ? W0_MEMORY : W0_CONFIG0;
}

bool venc_engine_firmware_tlp(struct venc *e, struct vcard_tlp *tlp)
{
	struct rc_port *p = &e->port[0];
	bool write = tlp->type == VCARD_MEM_WRITE || tlp->type == VCARD_CFG_WRITE;
	enum vcard_completion rc;
	struct engine_slot *s;
	int n = free_slot(p);

	if (n < 0)
		return false; /* bridge.md 2.11: busy timeout, result 2 */
	s = &p->slot[n];
	s->w[0] = firmware_type(tlp);
	s->w[1] = 1u | (write ? W1_WRITE : W1_READ) | (uint32_t)tlp->byte_enables << 8;
	s->w[2] = (uint32_t)tlp->address; /* BDF 0:0.0 has no bits of its own */
	s->w[3] = 0;
	s->data[0] = write ? tlp->data : 0;
	rc = run_slot(e, p, s);
	tlp->data = s->data[0];
	p->next = ((unsigned)n + 1) & 3;
	return rc == VCARD_SC;
}
