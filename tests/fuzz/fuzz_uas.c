/* fuzz_uas.c - libFuzzer entry: an arbitrary host on the four pipes of UAS. Input: one option byte,
 * then records of {operation, bytes}. Whatever comes, a transfer keeps its promises, and no command
 * is answered more often than it was sent.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/bytes.h"
#include "device/virtual/enclosure/enclosure.h"

#define MAX_RECORDS 200
#define COMMAND     0x04 /* pipes: bridge.md 1.2 */
#define STATUS      0x83
#define DATA_IN     0x81
#define DATA_OUT    0x02

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct host {
	struct venc *e;
	const uint8_t *at;
	size_t left;
	uint16_t open[0x10000]; /* by tag: IUs sent and not answered */
};

static uint8_t take(struct host *h)
{
	if (!h->left)
		return 0;
	h->left--;
	return *h->at++;
}

static size_t take_bytes(struct host *h, uint8_t *to, size_t len)
{
	size_t n = MIN(len, h->left);

	memset(to, 0, len);
	memcpy(to, h->at, n);
	h->at += n;
	h->left -= n;
	return n;
}

static int promise(int n, size_t room)
{
	if (n > (int)room || (n < 0 && n != -EPIPE && n != -ETIMEDOUT && n != -EOVERFLOW))
		abort();
	return n;
}

static void send_iu(struct host *h, const uint8_t *iu, size_t len)
{
	if (promise(venc_pipe_out(h->e, COMMAND, iu, len), len) >= 4)
		h->open[get_be16(iu + 2)]++;
}

/* As the specification has it, so that most get through: {tag, attribute, CDB} */
static void send_command(struct host *h)
{
	uint8_t iu[32] = {1};

	iu[3] = take(h) & 0x3F;
	iu[4] = take(h);
	iu[9] = iu[4] >> 7; /* now and then another LUN */
	take_bytes(h, iu + 16, 16);
	send_iu(h, iu, sizeof(iu));
}

static void send_task(struct host *h)
{
	uint8_t iu[16] = {5};

	take_bytes(h, iu + 3, 5);
	send_iu(h, iu, sizeof(iu));
}

static void send_junk(struct host *h)
{
	uint8_t iu[64];
	size_t len = take(h) % sizeof(iu);

	take_bytes(h, iu, len);
	send_iu(h, iu, len);
}

/* 3 Sense and 4 Response end a command, 6 and 7 announce its data. */
static void fetch_status(struct host *h)
{
	uint8_t iu[96];
	int n = promise(venc_pipe_in(h->e, STATUS, iu, sizeof(iu)), sizeof(iu));

	if (n < 0)
		return;
	if (n < 4 || (iu[0] != 3 && iu[0] != 4 && iu[0] != 6 && iu[0] != 7) ||
	        !h->open[get_be16(iu + 2)])
		abort();
	if (iu[0] < 6)
		h->open[get_be16(iu + 2)]--;
}

static void move_data(struct host *h, bool in)
{
	static uint8_t buf[8192];
	size_t len = (size_t)(take(h) << 5 | (take(h) & 0x1F));

	if (in)
		promise(venc_pipe_in(h->e, DATA_IN, buf, len), len);
	else
		promise(venc_pipe_out(h->e, DATA_OUT, buf, len), len);
}

/* Those of bridge.md 5.5 after which the IUs still keep the promises above; a tag or a length that
 * is wrong on purpose does not. */
static void inject(struct host *h, uint8_t which)
{
	static const enum venc_fault faults[] = {VENC_FAULT_TIMEOUT, VENC_FAULT_DATA_STALL,
	        VENC_FAULT_CSW_STALL, VENC_FAULT_PHASE_ERROR, VENC_FAULT_CSW_SHORT};

	venc_inject(h->e, faults[which % ARRAY_SIZE(faults)], 1);
}

static void clear_halt(struct host *h, uint8_t which)
{
	static const uint8_t pipes[] = {COMMAND, STATUS, DATA_IN, DATA_OUT};

	venc_control(h->e, 2, 1, 0, pipes[which % ARRAY_SIZE(pipes)], NULL, 0);
}

static void record(struct host *h)
{
	uint8_t op = take(h);

	switch (op & 15) {
	case 0: send_junk(h); break;
	case 1: send_task(h); break;
	case 2: inject(h, take(h)); break;
	case 3: clear_halt(h, take(h)); break;
	case 4:
	case 5:
	case 6: move_data(h, true); break;
	case 7: move_data(h, false); break;
	case 8:
	case 9:
	case 10:
	case 11: send_command(h); break;
	default: fetch_status(h); break;
	}
}

/* One enclosure for all inputs with the same option, put back to power-up state before each: making
 * a card takes longer than most inputs. */
static struct venc *enclosure(bool reorders)
{
	static struct venc *made[2];
	struct venc_options opt = {.threads = 1, .vram_bytes = 64u << 20, .uas_reorders = reorders};
	struct venc **e = &made[reorders];

	if (!*e && venc_new(e, &opt))
		abort();
	venc_power_cycle(*e);
	for (int fault = 0; fault < VENC_FAULT_COUNT; fault++)
		venc_inject(*e, (enum venc_fault)fault, 0);
	if (venc_control(*e, 0x01, 11, 1, 0, NULL, 0))
		abort();
	return *e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct host h; /* too large for a stack */

	memset(&h, 0, sizeof(h));
	h.at = data;
	h.left = size;
	h.e = enclosure(take(&h) & 1);
	for (int i = 0; i < MAX_RECORDS && h.left; i++)
		record(&h);
	return 0;
}
