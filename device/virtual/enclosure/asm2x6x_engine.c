/* asm2x6x_engine.c - the TLP engine at B210 (bridge.md 3.3, 3.4): a request is built from single
 * bytes, armed, sent, and its completion fetched from other bytes. It goes out only on B296=04
 * after B254=0F; what stock tools never do is a guest error and sends nothing.
 */
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/asm2x6x_priv.h"

/* B296, bridge.md 3.3 */
#define STATUS_ERROR 0x01
#define STATUS_DONE  0x02
#define STATUS_READY 0x04
#define SEND         0x04
#define ENGINE_RESET 0x08
#define ARM          0x0F /* B254 */

/* B210, bridge.md 3.3 */
#define FMT_4DW      0x20
#define FMT_WRITE    0x40
#define TYPE_CONFIG0 0x04
#define TYPE_CONFIG1 0x05
#define COMPLETION   0x0A /* PCIe base specification 2.2.9: Cpl; with FMT_WRITE: CplD */
#define UNSELECTED   0xA5 /* what a read leaves in byte lanes it did not ask for */

static uint8_t *reg(struct venc *e, unsigned address)
{
	return e->asmedia->xdata + address;
}

bool venc_asm_engine_owns(uint32_t address)
{
	return (address >= TLP_TYPE && address < TLP_COMPLETION_END) || address == TLP_ARM ||
	       address == TLP_HAS_DATA || address == TLP_STATUS;
}

/* bridge.md 3.4: on 246x the words B211 to B216 stay from boot; on 236x only a host that writes all
 * twelve bytes is known to work. */
void venc_asm_engine_power_up(struct venc *e)
{
	e->asmedia->engine = (struct venc_asm_engine){0};
	memset(reg(e, TLP_TYPE), venc_is_246x(e) ? 0 : 0xA5, TLP_DATA - TLP_TYPE);
	memset(reg(e, TLP_DATA), 0xA5, TLP_COMPLETION_END - TLP_DATA);
	*reg(e, TLP_HAS_DATA) = 0;
	if (venc_is_246x(e))
		*reg(e, TLP_LENGTH) = 1;
}

static bool is_config(uint8_t type)
{
	return (type & ~(FMT_WRITE | 1)) == TYPE_CONFIG0;
}

static bool is_memory(uint8_t type)
{
	return !(type & ~(FMT_WRITE | FMT_4DW));
}

static bool is_posted(struct venc *e) /* bridge.md 3.4 */
{
	uint8_t type = *reg(e, TLP_TYPE);

	return is_memory(type) && type & FMT_WRITE;
}

/* bridge.md 3.3: ((1 << size) - 1) << offset inside the dword */
static bool one_run(uint8_t enables)
{
	unsigned lowest = enables & -(unsigned)enables;

	return enables && enables < 0x10 && !((enables + lowest) & enables);
}

/* What is wrong with the header, or NULL. */
static const char *header_defect(struct venc *e)
{
	uint8_t type = *reg(e, TLP_TYPE), tag = *reg(e, TLP_TAG);
	uint32_t address = get_be32(reg(e, TLP_ADDRESS));

	if (!is_memory(type) && !is_config(type))
		return "unknown type in B210";
	if (type & FMT_4DW && !venc_is_246x(e))
		return "64-bit address on a 236x, unproven (7.1 K15)";
	if (get_be16(reg(e, TLP_TRAFFIC)))
		return "traffic class or attributes in B211";
	if (*reg(e, TLP_LENGTH) != 1)
		return "length other than 1 in B213";
	if (get_be16(reg(e, TLP_REQUESTER)) || (tag && tag != 0x20))
		return "requester or tag in B214 to B216";
	if (!one_run(*reg(e, TLP_ENABLES)))
		return "byte enables in B217 are no run inside one dword";
	if (address & 3)
		return "address in B218 not dword aligned";
	if (is_config(type) && address & 0xF000)
		return "configuration address with bits 15:12";
	return NULL;
}

static struct vcard_tlp request(struct venc *e)
{
	uint8_t type = *reg(e, TLP_TYPE);
	bool write = type & FMT_WRITE;
	struct vcard_tlp tlp = {
	        .address = get_be32(reg(e, TLP_ADDRESS)),
	        .byte_enables = *reg(e, TLP_ENABLES),
	        .data = write ? get_be32(reg(e, TLP_DATA)) : 0,
	};

	if (is_config(type))
		tlp.type = write ? VCARD_CFG_WRITE : VCARD_CFG_READ;
	else
		tlp.type = write ? VCARD_MEM_WRITE : VCARD_MEM_READ;
	if (type & FMT_4DW)
		tlp.address |= (uint64_t)get_be32(reg(e, TLP_ADDRESS_HIGH)) << 32;
	return tlp;
}

static void store_data(struct venc *e, uint32_t data, uint8_t enables)
{
	for (unsigned lane = 0; lane < 4; lane++)
		*reg(e, TLP_DATA + 3 - lane) =
		        (uint8_t)(enables >> lane & 1 ? data >> 8 * lane : UNSELECTED);
}

static uint16_t completer(struct venc *e)
{
	uint8_t type = *reg(e, TLP_TYPE);

	if (is_config(type))
		return get_be16(reg(e, TLP_ADDRESS));
	return (uint16_t)(venc_asm_root_secondary(e) << 8);
}

/* bridge.md 3.3: the completion as it came in, PCIe base specification 2.2.9. Without data B220
 * keeps what it had. */
static void complete(struct venc *e, const struct vcard_tlp *tlp, enum vcard_completion rc)
{
	bool config = is_config(*reg(e, TLP_TYPE));
	bool data = rc == VCARD_SC && !(*reg(e, TLP_TYPE) & FMT_WRITE);
	unsigned count = config ? 4 : (unsigned)__builtin_popcount(tlp->byte_enables);
	uint8_t *h = reg(e, TLP_COMPLETION), type = COMPLETION | (data ? FMT_WRITE : 0);
	uint8_t lower = config ? 0 : (uint8_t)(tlp->address & 0x7C);

	if (!config)
		lower = (uint8_t)(lower | __builtin_ctz(tlp->byte_enables));
	put_be32(h, (uint32_t)type << 24 | data);
	put_be32(h + 4, (uint32_t)completer(e) << 16 | (uint32_t)rc << 13 | count);
	put_be32(h + 8, (uint32_t)get_be16(reg(e, TLP_REQUESTER)) << 16 |
	                        (uint32_t)*reg(e, TLP_TAG) << 8 | lower);
	*reg(e, TLP_HAS_DATA) = data;
	if (data)
		store_data(e, tlp->data, tlp->byte_enables);
}

static uint8_t execute(struct venc *e)
{
	uint8_t type = *reg(e, TLP_TYPE);
	struct vcard_tlp tlp = request(e);
	enum vcard_completion rc;

	if (is_config(type))
		rc = venc_asm_root_config(e, type & 1, (uint32_t)tlp.address, &tlp);
	else
		rc = venc_asm_root_memory(e, &tlp);
	if (rc == VCARD_TIMEOUT)
		return STATUS_ERROR;
	if (!is_posted(e)) {
		complete(e, &tlp, rc);
		return STATUS_DONE;
	}
	if (rc != VCARD_SC) /* posted: nothing tells the host */
		venc_guest_error(e, "asm: write to %llx, which nobody claims (bridge.md 3.5)",
		        (unsigned long long)tlp.address);
	return 0;
}

/* What keeps the engine from sending, or NULL. */
static const char *send_defect(struct venc *e)
{
	const struct venc_asm_engine *g = &e->asmedia->engine;

	if (g->busy)
		return "sent while busy";
	if (!g->armed)
		return "sent without B254=0F";
	if (g->awaited)
		return "sent before the last request was seen to be done";
	if (g->status & STATUS_DONE)
		return "sent with done set";
	return header_defect(e);
}

static void send(struct venc *e)
{
	struct venc_asm_engine *g = &e->asmedia->engine;
	const char *defect = send_defect(e);

	if (defect) {
		venc_guest_error(
		        e, "asm: TLP engine: %s; nothing sent (bridge.md 3.3, 3.4)", defect);
		return;
	}
	g->armed = false;
	g->outcome = execute(e);
	g->awaited = !is_posted(e);
	g->busy = g->awaited && e->fault[VENC_FAULT_ENGINE_SLOW];
	if (!g->busy)
		g->status |= g->outcome;
}

/* bridge.md 3.4: 246x hosts leave "done" to the next trigger, 236x hosts clear it by hand. */
static void arm(struct venc *e, uint8_t value)
{
	struct venc_asm_engine *g = &e->asmedia->engine;

	if (value != ARM) {
		venc_guest_error(e, "asm: B254=%02x, not 0F (bridge.md 3.3)", value);
		return;
	}
	g->armed = true;
	if (venc_is_246x(e) && !g->awaited)
		g->status &= (uint8_t)~STATUS_DONE;
}

static void write_status(struct venc *e, uint8_t value)
{
	switch (value) {
	case SEND: send(e); break;
	case ENGINE_RESET: e->asmedia->engine = (struct venc_asm_engine){0}; break;
	case STATUS_ERROR:
	case STATUS_DONE:
	case STATUS_ERROR | STATUS_DONE: e->asmedia->engine.status &= (uint8_t)~value; break;
	default: venc_guest_error(e, "asm: B296=%02x means nothing (bridge.md 3.3)", value);
	}
}

/* bridge.md 3.3, 3.4: ready at rest; a host finds B296 equal to 02 after a completion. */
static uint8_t read_status(struct venc *e)
{
	struct venc_asm_engine *g = &e->asmedia->engine;

	if (g->busy && !venc_take_fault(e, VENC_FAULT_ENGINE_SLOW)) {
		g->busy = false;
		g->status |= g->outcome;
	}
	if (g->busy)
		return g->status;
	g->awaited = false;
	return g->status ? g->status : STATUS_READY;
}

uint8_t venc_asm_engine_read(struct venc *e, uint32_t address)
{
	bool result = address >= TLP_DATA && address != TLP_ARM;

	if (address == TLP_STATUS)
		return read_status(e);
	if (result && e->asmedia->engine.awaited)
		venc_guest_error(
		        e, "asm: %04x read before B296 said done (bridge.md 3.4)", address);
	return *reg(e, address);
}

static bool is_request(const struct venc *e, uint32_t address)
{
	if (address >= TLP_ADDRESS_HIGH && address < TLP_DATA)
		return venc_is_246x(e); /* bridge.md 3.3 */
	return address >= TLP_TYPE && address < TLP_COMPLETION;
}

void venc_asm_engine_write(struct venc *e, uint32_t address, uint8_t value)
{
	struct venc_asm_engine *g = &e->asmedia->engine;

	if (address == TLP_STATUS)
		write_status(e, value);
	else if (g->busy || g->awaited)
		venc_guest_error(
		        e, "asm: write to %04x before B296 said done (bridge.md 3.4)", address);
	else if (address == TLP_ARM)
		arm(e, value);
	else if (is_request(e, address))
		*reg(e, address) = value;
	else
		venc_guest_error(
		        e, "asm: %04x is no register of requests (bridge.md 3.3)", address);
}
