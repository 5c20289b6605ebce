/* test_card_garbage.c - nothing a host or a packet stream says may hurt the process, hang the
 * card's threads or keep it from working afterwards. Fixed seeds: a failure repeats.
 */
#include "device/clock.h"
#include "tests/unit/card/helper_card.h"

#define MEM  0x100000u
#define DATA 0x300000u
#define IB   0x310000u

static uint32_t seed;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* likely - a word that often means something: a VRAM address half, a small number, a register,
 * noise. */
static uint32_t likely(void)
{
	switch (rnd() % 8) {
	case 0: return LO(DATA + rnd() % 0x1000);
	case 1:
	case 2: return HI(DATA);
	case 3: return rnd() % 8;
	case 4: return 1u << rnd() % 32;
	case 5: return RX_REG_DW(REG_SCRATCH_REG0) + rnd() % 8;
	case 6: return 0;
	default: return rnd();
	}
}

static unsigned random_packet(uint32_t *p)
{
	static const struct {
		uint8_t op;
		unsigned n;
	} kinds[] = {{PKT3_NOP, 4}, {PKT3_DISPATCH_DIRECT, 5}, {PKT3_DISPATCH_INDIRECT, 4},
	        {PKT3_ATOMIC_MEM, 9}, {PKT3_COND_EXEC, 5}, {PKT3_WRITE_DATA, 6},
	        {PKT3_WAIT_REG_MEM, 7}, {PKT3_INDIRECT_BUFFER, 4}, {PKT3_COPY_DATA, 6},
	        {PKT3_COND_WRITE, 9}, {PKT3_EVENT_WRITE, 2}, {PKT3_RELEASE_MEM, 7},
	        {PKT3_DMA_DATA, 7}, {PKT3_ACQUIRE_MEM, 7}, {PKT3_REWIND, 2}, {PKT3_SET_SH_REG, 8},
	        {PKT3_SET_UCONFIG_REG, 4}};
	unsigned k = rnd() % (sizeof(kinds) / sizeof(kinds[0])), n = kinds[k].n;

	p[0] = rnd() % 32 ? PKT3(kinds[k].op, n) : rnd();
	for (unsigned i = 1; i < n; i++)
		p[i] = likely();
	if (kinds[k].op == PKT3_INDIRECT_BUFFER && rnd() % 2) {
		p[1] = LO(IB);
		p[2] = HI(IB);
		p[3] = IB_VALID | rnd() % 64;
	}
	if (kinds[k].op == PKT3_SET_SH_REG && rnd() % 2)
		p[1] = SH_COMPUTE_START_X + rnd() % 0x50;
	return n;
}

/* put_state - everything a dispatch needs, plausible or not; the code is whatever lies in memory.
 */
static void put_state(struct host *h, struct test_queue *q)
{
	uint64_t pgm = FB_BASE + (rnd() % 2 ? IB : rnd() % VRAM_BYTES);

	PUT(h, q, PKT3(PKT3_SET_SH_REG, 8), SH_COMPUTE_START_X, 0, 0, rnd() % 4, rnd() % 65,
	        1 + rnd() % 2, 1);
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 4), SH_COMPUTE_PGM_LO, (uint32_t)(pgm >> 8),
	        (uint32_t)(pgm >> 40));
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 4), SH_COMPUTE_PGM_RSRC1, rnd() & 0xFF3FF,
	        rnd() & 0x000FFF9F);
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 8), SH_COMPUTE_RESOURCE_LIMITS, 0, 0xFFFFFFFF, 0xFFFFFFFF,
	        likely(), 0xFFFFFFFF, 0xFFFFFFFF);
	PUT(h, q, PKT3(PKT3_SET_SH_REG, 10), SH_COMPUTE_USER_DATA_0, likely(), likely(), likely(),
	        likely(), likely(), likely(), likely(), likely());
	PUT(h, q, PKT3(PKT3_DISPATCH_DIRECT, 5), rnd() % 8, 1, 1, DISPATCH_INITIATOR_PAL);
}

static void card_still_works(struct host *h)
{
	struct test_queue q;

	queue_init(&q, 0, 0, MEM);
	queue_start(h, &q);
	vram_write(h, DATA, 0);
	PUT(h, &q, WRITE_MEM(DATA, 0x600D));
	queue_grant(h, &q);
	if (!wait_vram(h, DATA, 0x600D, LONG))
		fail_msg(
		        "the card stopped working; seed now 0x%x, newest error: %s", seed, h->last);
	assert_true(queue_dequeue(h, &q, 2, LONG));
}

static void random_packets_do_no_harm(void **state)
{
	struct host *h = *state;
	struct test_queue q;
	uint32_t p[16];

	seed = 0x580;
	queue_init(&q, 0, 0, MEM);
	for (int round = 0; round < 400; round++) {
		for (uint32_t at = 0; at < 64;) {
			unsigned n = random_packet(p);

			vram_fill(h, IB + 4 * at, p, n);
			at += n;
		}
		queue_start(h, &q);
		if (round % 2)
			put_state(h, &q);
		for (int i = 0; i < 8; i++)
			queue_put(h, &q, p, random_packet(p));
		queue_grant(h, &q);
		sleep_us(rnd() % 500);
		if (!queue_dequeue(h, &q, 2, LONG))
			fail_msg("round %d: the queue cannot be reset", round);
	}
	card_still_works(h);
}

static void random_requests_do_no_harm(void **state)
{
	struct host *h = *state;
	static const uint64_t bases[] = {BAR0_AT, BAR2_AT, BAR5_AT, BAR4_AT, ROM_AT, AUDIO_AT, 0};

	seed = 0x67DF;
	for (int i = 0; i < 200000; i++) {
		struct vcard_tlp t = {.type = (enum vcard_tlp_type)(rnd() % 6),
		        .byte_enables = rnd() & 0xF,
		        .data = likely()};

		t.address = t.type >= VCARD_CFG_READ ? rnd() & 0x3FFF
		                                     : bases[rnd() % 7] + (rnd() & 0x3FFFF);
		if (t.type == VCARD_CFG_WRITE && rnd() % 64)
			continue; /* or the BARs never stay where the rest aims */
		vcard_tlp(h->card, &t);
		if (i % 5000 == 0)
			host_enumerate(h);
	}
	vcard_reset(h->card);
	host_enumerate(h);
	card_still_works(h);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)
	const struct CMUnitTest tests[] = {
	        T(random_packets_do_no_harm),
	        T(random_requests_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
