/* cp_packets.c - one packet: header, length, table of what MEC knows, and the packets that steer
 * the stream. polaris.md 7.1-7.3, 14.8; resident-plans.md 1, 4, 15.7.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/virtual/card/card_priv.h"

static const struct packet {
	uint8_t opcode;
	uint32_t min, max; /* dwords, header included */
	cp_packet_fn *fn;
	const char *name;
} packets[] = {
        /* lengths: polaris.md 7.2 */
        {PKT3_NOP, 2, PM4_MAX_DWORDS, card_cp_nop, "NOP"},
        {PKT3_DISPATCH_DIRECT, 5, 5, card_cp_dispatch_direct, "DISPATCH_DIRECT"},
        {PKT3_DISPATCH_INDIRECT, 4, 4, card_cp_dispatch_indirect, "DISPATCH_INDIRECT"},
        {PKT3_ATOMIC_MEM, 9, 9, card_cp_atomic_mem, "ATOMIC_MEM"},
        {PKT3_COND_EXEC, 5, 5, card_cp_cond_exec, "COND_EXEC"},
        {PKT3_WRITE_DATA, 5, PM4_MAX_DWORDS, card_cp_write_data, "WRITE_DATA"},
        {PKT3_WAIT_REG_MEM, 7, 7, card_cp_wait_reg_mem, "WAIT_REG_MEM"},
        {PKT3_INDIRECT_BUFFER, 4, 4, card_cp_indirect_buffer, "INDIRECT_BUFFER"},
        {PKT3_COPY_DATA, 6, 6, card_cp_copy_data, "COPY_DATA"},
        {PKT3_COND_WRITE, 9, 9, card_cp_cond_write, "COND_WRITE"},
        {PKT3_EVENT_WRITE, 2, 4, card_cp_event_write, "EVENT_WRITE"},
        {PKT3_RELEASE_MEM, 7, 7, card_cp_release_mem, "RELEASE_MEM"},
        {PKT3_DMA_DATA, 7, 7, card_cp_dma_data, "DMA_DATA"},
        {PKT3_ACQUIRE_MEM, 7, 7, card_cp_acquire_mem, "ACQUIRE_MEM"},
        {PKT3_REWIND, 2, 2, card_cp_rewind, "REWIND"},
        {PKT3_SET_SH_REG, 3, PM4_MAX_DWORDS, card_cp_set_sh_reg, "SET_SH_REG"},
        {PKT3_SET_UCONFIG_REG, 3, PM4_MAX_DWORDS, card_cp_set_uconfig_reg, "SET_UCONFIG_REG"},
};

int card_cp_bad(struct card_queue *q, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	card_guest_error(q->card, "queue %u.%u: %s (%s, before dword 0x%llx)", q->pipe->index,
	        q->index, text, q->in_ib ? "indirect buffer" : "ring",
	        (unsigned long long)(q->in_ib ? q->ib.pos : q->ring.pos));
	return -EBADMSG;
}

int card_cp_address(
        struct card_queue *q, uint32_t lo, uint32_t hi, uint64_t len, uint64_t align, uint64_t *off)
{
	uint64_t mc = (uint64_t)hi << 32 | lo;

	if (mc % align) {
		card_cp_bad(q, "address 0x%llx is not aligned to %llu", (unsigned long long)mc,
		        (unsigned long long)align);
		return -EFAULT;
	}
	if (!card_vram_offset(q->card, mc, len, off)) {
		card_cp_bad(q, "address 0x%llx, %llu bytes: not VRAM", (unsigned long long)mc,
		        (unsigned long long)len);
		return -EFAULT;
	}
	return 0;
}

static const struct packet *lookup(uint32_t header)
{
	uint8_t opcode = (uint8_t)(header >> PM4_OPCODE_SHIFT);

	for (size_t i = 0; i < ARRAY_SIZE(packets); i++)
		if (packets[i].opcode == opcode)
			return &packets[i];
	return NULL;
}

/* want - @n dwords of the current stream; the ring may have been granted more meanwhile. */
static bool want(struct card_queue *q, struct card_stream *s, uint64_t n)
{
	struct vcard *c = q->card;

	if (card_cp_stream_want(c, s, n))
		return true;
	if (!s->ring)
		return false;
	pthread_mutex_lock(&c->lock);
	s->limit = s->pos + ((HQD(q, CP_HQD_PQ_WPTR) - s->pos) & (s->size - 1));
	pthread_mutex_unlock(&c->lock);
	return card_cp_stream_want(c, s, n);
}

/* gather - the packet in one piece: in place, or copied when it wraps round the ring end. */
static const uint32_t *gather(struct card_queue *q, struct card_stream *s, uint32_t n)
{
	uint64_t at = s->ring ? s->pos & (s->size - 1) : s->pos;

	if (at + n <= s->size)
		return s->data + at;
	for (uint32_t i = 0; i < n; i++)
		q->scratch[i] = cp_stream_at(s, i);
	return q->scratch;
}

int card_cp_step(struct card_queue *q)
{
	struct card_stream *s = q->in_ib ? &q->ib : &q->ring;
	const struct packet *packet;
	const uint32_t *p;
	uint32_t header, n;

	if (!want(q, s, 1))
		return card_cp_bad(q, "nothing to fetch");
	header = cp_stream_at(s, 0);
	q->packets++;
	q->card->packets++;
	card_cp_retire(q, false);
	if (header == PM4_FILLER) {
		s->pos++;
		return 0;
	}
	packet = lookup(header);
	n = (header >> PM4_COUNT_SHIFT & PM4_COUNT_MASK) + 2;
	if (header >> PM4_TYPE_SHIFT != PM4_TYPE3 || !packet)
		return card_cp_bad(q, "header 0x%08x: not a packet MEC knows", header);
	if (n < packet->min || n > packet->max)
		return card_cp_bad(q, "%s of %u dwords", packet->name, n);
	if (!want(q, s, n))
		return card_cp_bad(q, "%s of %u dwords crosses the end of %s", packet->name, n,
		        s->ring ? "what was granted" : "its indirect buffer");
	p = gather(q, s, n);
	s->pos += n;
	return packet->fn(q, p, n);
}

int card_cp_nop(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	(void)q, (void)p, (void)n;
	return 0;
}

/* resident-plans.md 1, 15.7: calls from the ring, chains at the end of a buffer, nothing else */
int card_cp_indirect_buffer(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint32_t size = p[3] & IB_SIZE_MASK;
	bool chain = p[3] & IB_CHAIN;
	bool uncached =
	        (HQD(q, CP_HQD_IB_CONTROL) >> 27 & 3) == 3; /* fixed while the queue is active */
	uint64_t off;

	(void)n;
	if (!(p[3] & IB_VALID) || p[3] & IB_OFFLOAD_POLLING ||
	        p[3] >> IB_VMID_SHIFT & IB_VMID_MASK || !size)
		return card_cp_bad(q, "INDIRECT_BUFFER control 0x%08x", p[3]);
	if (chain && !q->in_ib)
		return card_cp_bad(q, "INDIRECT_BUFFER with CHAIN in the ring");
	if (chain && q->ib.pos != q->ib.size)
		return card_cp_bad(q, "INDIRECT_BUFFER with CHAIN is not the last packet");
	if (!chain && q->in_ib)
		return card_cp_bad(q, "INDIRECT_BUFFER inside an indirect buffer (IB2 on MEC)");
	if (p[2] >> 16 || card_cp_address(q, p[1], p[2], size * 4ull, 4, &off))
		return -EFAULT;
	if (card_cp_stream_open(&q->ib, off, size, false, uncached))
		return card_cp_bad(q, "no memory for an indirect buffer of %u dwords", size);
	q->in_ib = true;
	card_cp_stream_want(q->card, &q->ib, 1); /* fetched when parsed */
	return 0;
}

/* resident-plans.md 4: only inside indirect buffers, only 0 and 1 */
int card_cp_cond_exec(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	uint64_t off, skip = p[4] & COND_EXEC_COUNT_MASK;
	uint8_t word[4];
	uint32_t value;

	(void)n;
	if (!q->in_ib || p[3])
		return card_cp_bad(q,
		        q->in_ib ? "COND_EXEC control 0x%x" : "COND_EXEC in the ring, control 0x%x",
		        p[3]);
	if (card_cp_address(q, p[1], p[2], 4, 4, &off))
		return -EFAULT;
	if (skip > q->ib.size - q->ib.pos)
		return card_cp_bad(q, "COND_EXEC skips past its indirect buffer");
	vmem_dram_read(q->card->mem, off, word, 4);
	value = get_le32(word);
	if (value > 1)
		return card_cp_bad(q, "COND_EXEC operand 0x%x: only 0 and 1 are safe", value);
	if (!value)
		q->ib.pos += skip;
	return 0;
}

/* resident-plans.md 2 (c), 2 prefetch: valid = 1 drops what was fetched ahead; 0 stalls until
 * memory says 1 */
int card_cp_rewind(struct card_queue *q, const uint32_t *p, uint32_t n)
{
	struct card_stream *s = q->in_ib ? &q->ib : &q->ring;
	uint64_t off = s->base + ((s->ring ? (s->pos - 1) & (s->size - 1) : s->pos - 1)) * 4;
	uint8_t word[4];
	uint32_t value = p[1];

	(void)n;
	while (!(value & REWIND_VALID)) {
		uint64_t seen = vmem_change_count(q->card->mem);
		int r = card_cp_checkpoint(q, true);

		if (r)
			return r;
		card_cp_finish_dma(q);
		card_cp_retire(q, true);
		vmem_dram_read(q->card->mem, off, word, 4);
		value = get_le32(word);
		if (!(value & REWIND_VALID))
			vmem_wait_change(q->card->mem, seen, 1000);
	}
	card_cp_stream_refetch(s);
	return 0;
}
