/* Requests without FUSE in front: bodies, the choke point and the owner, on a fake card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "fs/dispatch.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "helper_fake_rx.h"

static struct options opt = {.card = "virtual", .sample_ms = 1000};

static int setup(void **state)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	*state = fs;
	return fs_init(fs, &opt) || fs_card_open(fs);
}

static int teardown(void **state)
{
	fs_card_close(*state);
	fs_fini(*state);
	free(*state);
	return 0;
}

/* Run one body as the owner would. */
static int call(struct fs *fs, struct request *r)
{
	r->fs = fs;
	r->started_ns = now_ns();
	int result;

	do
		result = dispatch_body(r);
	while (result == REQUEST_PARK);
	return result;
}

static struct node *create(struct fs *fs, struct node *dir, const char *name)
{
	struct request r = {.kind = REQ_CREATE, .node = dir, .name = (char *)name, .mode = 0640};
	int err = call(fs, &r);

	if (err)
		fail_msg("expected %s to be created, got %d", name, err);
	assert_int_equal(r.child->mode, 0640);
	node_put(fs, r.child); /* the folder keeps it */
	return r.child;
}

static int io(struct fs *fs, enum request_kind kind, struct node *n, struct handle *h,
        uint64_t offset, void *data, size_t size)
{
	struct request r = {
	        .kind = kind, .node = n, .handle = h, .offset = offset, .data = data, .size = size};

	return call(fs, &r);
}

static int simple(struct fs *fs, enum request_kind kind, struct node *n, uint64_t offset)
{
	struct request r = {.kind = kind, .node = n, .offset = offset};

	return call(fs, &r);
}

static void buffers_grow_by_writing_and_give_back_what_was_reserved(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->buffers_dir, "b");
	struct handle *h = handle_new(fs, n, O_RDWR);
	uint8_t out[1000], in[1000];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7);
	for (uint64_t at = 0; at < 20000; at += sizeof(out))
		assert_int_equal(io(fs, REQ_WRITE, n, h, at, out, sizeof(out)), 1000);
	assert_int_equal(n->size, 20000);
	assert_int_equal(io(fs, REQ_READ, n, h, 19500, in, sizeof(in)), 500);
	assert_memory_equal(in, out + 500, 500);
	assert_int_equal(io(fs, REQ_READ, n, h, 20000, in, sizeof(in)), 0);
	assert_true(rx_buffer_size(rx_buffer_find(fs->rx, "b")) > 20000);
	struct request r = {.kind = REQ_RELEASE, .node = n, .handle = h};

	assert_int_equal(call(fs, &r), 0);
	assert_int_equal(rx_buffer_size(rx_buffer_find(fs->rx, "b")), 20000);
	handle_put(fs, h);
}

static void a_removed_buffer_keeps_its_bytes_for_who_has_it_open(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->buffers_dir, "b");
	struct handle *h = handle_new(fs, n, O_RDWR);
	char data[4] = "abc", back[4] = "";
	struct request u = {.kind = REQ_UNLINK, .node = fs->buffers_dir, .child = n, .name = "b"};

	assert_int_equal(io(fs, REQ_WRITE, n, h, 0, data, 4), 4);
	assert_int_equal(call(fs, &u), 0);
	create(fs, fs->buffers_dir, "b"); /* the name is free again */
	assert_int_equal(io(fs, REQ_READ, n, h, 0, back, 4), 4);
	assert_string_equal(back, "abc");
	struct request r = {.kind = REQ_RELEASE, .node = n, .handle = h};

	assert_int_equal(call(fs, &r), 0);
	assert_int_equal(io(fs, REQ_READ, n, h, 0, back, 4), -ENODEV);
	handle_put(fs, h);
	assert_int_equal(rx_maps(fs->rx, NULL, 0), 0);
}

static void pinned_buffers_keep_size_and_name(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->buffers_dir, "b");
	struct request u = {.kind = REQ_UNLINK, .node = fs->buffers_dir, .child = n, .name = "b"};
	struct request mv = {
	        .kind = REQ_RENAME, .node = fs->buffers_dir, .child = n, .name = "b", .name2 = "c"};

	assert_int_equal(simple(fs, REQ_TRUNCATE, n, 4096), 0);
	rx_buffer_pin(rx_buffer_find(fs->rx, "b"));
	assert_int_equal(simple(fs, REQ_TRUNCATE, n, 4096), 0);
	assert_int_equal(simple(fs, REQ_TRUNCATE, n, 100), -EBUSY);
	assert_int_equal(io(fs, REQ_WRITE, n, NULL, 4096, "x", 1), -EBUSY);
	assert_int_equal(call(fs, &u), -EBUSY);
	assert_int_equal(call(fs, &mv), -EBUSY);
	rx_buffer_unpin(rx_buffer_find(fs->rx, "b"));
	assert_int_equal(call(fs, &mv), 0);
	assert_non_null(rx_buffer_find(fs->rx, "c"));
	assert_ptr_equal(tree_find(fs->buffers_dir, "c"), n);
}

static void no_room_is_enospc_and_changes_nothing(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->buffers_dir, "b");

	assert_int_equal(simple(fs, REQ_TRUNCATE, n, 1000), 0);
	assert_int_equal(simple(fs, REQ_TRUNCATE, n, FAKE_VRAM + 1), -EFBIG);
	assert_int_equal(simple(fs, REQ_TRUNCATE, n, FAKE_VRAM), -ENOSPC);
	assert_int_equal(n->size, 1000);
	assert_int_equal(rx_buffer_size(rx_buffer_find(fs->rx, "b")), 1000);
}

static void copies_between_buffers_stay_on_the_card_when_aligned(void **state)
{
	struct fs *fs = *state;
	struct node *a = create(fs, fs->buffers_dir, "a"), *b = create(fs, fs->buffers_dir, "b");
	struct handle *h = handle_new(fs, a, O_RDWR);
	uint8_t data[4099], back[4099];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i ^ i >> 8);
	assert_int_equal(io(fs, REQ_WRITE, a, h, 0, data, sizeof(data)), sizeof(data));
	struct request cp = {.kind = REQ_COPY, .node = a, .node2 = b, .size = 1u << 20};

	assert_int_equal(call(fs, &cp), sizeof(data));
	assert_int_equal(b->size, sizeof(data));
	assert_int_equal(io(fs, REQ_READ, b, h, 0, back, sizeof(back)), sizeof(back));
	assert_memory_equal(back, data, sizeof(data));
	struct request odd = {
	        .kind = REQ_COPY, .node = a, .node2 = b, .offset = 1, .offset2 = 6, .size = 100};

	assert_int_equal(call(fs, &odd), 100);
	assert_int_equal(io(fs, REQ_READ, b, h, 6, back, 100), 100);
	assert_memory_equal(back, data + 1, 100);
	handle_put(fs, h);
}

/* what the fake card has of its flash, and that it gives 256 bytes a call: helper_fake_rx.h */
static void the_flash_comes_in_pieces_between_which_others_go(void **state)
{
	struct fs *fs = *state;
	struct node *bios = tree_find(fs->root, "bios");
	uint8_t data[700];
	struct request r = {.fs = fs,
	        .kind = REQ_READ,
	        .node = bios,
	        .offset = 100,
	        .data = data,
	        .size = sizeof(data),
	        .started_ns = now_ns()};

	memset(data, 0xAA, sizeof(data));
	assert_int_equal(bios->size, 512 + FAKE_FLASH_REST);
	for (int piece = 0; piece < 3; piece++)
		assert_int_equal(dispatch_body(&r), REQUEST_PARK);
	assert_int_equal(dispatch_body(&r), sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++)
		assert_int_equal(data[i], i < 412 ? (100 + i) & 0xFF : 0);

	r.progress = 0;
	atomic_store(&r.interrupted, true);
	assert_int_equal(dispatch_body(&r), -EINTR);
}

static void xattrs_tell_address_type_and_shape(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->buffers_dir, "b");
	struct text t = {0};

	assert_int_equal(buffer_xattr_get(fs, n, "user.rx580.va", &t), -ENODATA);
	assert_int_equal(simple(fs, REQ_TRUNCATE, n, 4), 0);
	assert_int_equal(buffer_xattr_get(fs, n, "user.rx580.va", &t), 0);
	assert_string_equal(t.data, "0xf400000000");
	text_free(&t);
	assert_int_equal(buffer_xattr_set(n, "user.rx580.va", "0", 1), -EPERM);
	assert_int_equal(buffer_xattr_set(n, "user.other", "0", 1), -EOPNOTSUPP);
	assert_int_equal(buffer_xattr_set(n, "user.rx580.shape", "2,3xx", 3), 0);
	assert_int_equal(buffer_xattr_get(fs, n, "user.rx580.shape", &t), 0);
	assert_string_equal(t.data, "2,3");
	text_free(&t);
}

static void registers_take_single_dwords_dumps_and_masks(void **state)
{
	struct fs *fs = *state;
	struct node *regs = tree_find(fs->root, "regs");
	struct node *gfx = tree_find(tree_find(tree_find(fs->root, "regs.d"), "name"), "gfx");
	struct node *scratch = tree_find(gfx, "mmSCRATCH_REG0");
	struct handle *h = handle_new(fs, scratch, O_RDWR);
	uint8_t dump[16];
	char text[16] = "";

	assert_int_equal(io(fs, REQ_WRITE, regs, h, 0x30100, "\x78\x56\x34\x12", 4), 4);
	assert_int_equal(io(fs, REQ_READ, scratch, h, 0, text, 15), 11);
	assert_string_equal(text, "0x12345678\n");
	assert_int_equal(io(fs, REQ_WRITE, scratch, h, 0, "0xff 0x11\n", 10), 10);
	assert_int_equal(io(fs, REQ_READ, scratch, h, 0, text, 15), 11);
	assert_string_equal(text, "0x12345611\n");
	assert_int_equal(io(fs, REQ_WRITE, scratch, h, 0, "1 2 3\n", 6), -EINVAL);
	assert_int_equal(io(fs, REQ_WRITE, scratch, h, 0, "0x1ffffffff\n", 12), -EINVAL);
	assert_int_equal(io(fs, REQ_WRITE, scratch, h, 0, "pig\n", 4), -EINVAL);
	/* MM_DATA at 4 is a hazard, 8 has no name: a dump leaves both out, one dword does not */
	assert_int_equal(io(fs, REQ_READ, regs, h, 0, dump, 16), 16);
	assert_memory_equal(dump, "\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	assert_int_equal(io(fs, REQ_READ, regs, h, 4, dump, 4), 4);
	assert_memory_equal(dump, "\0\0\0\0", 4);
	assert_int_equal(io(fs, REQ_READ, regs, h, 0x40000, dump, 4), 0);
	assert_int_equal(io(fs, REQ_READ, regs, h, 3ull << 61, dump, 4), -EINVAL);
	handle_put(fs, h);
}

static void bank_bits_select_access_and_restore(void **state)
{
	struct fs *fs = *state;
	struct node *regs = tree_find(fs->root, "regs");
	uint8_t v[4];
	uint32_t index;

	/* SE 1, SH and instance broadcast */
	uint64_t bank = 1ull << 62 | 1ull << 24 | 0x3ffull << 34 | 0x3ffull << 44;

	assert_int_equal(io(fs, REQ_READ, regs, NULL, bank | 0x8010, v, 4), 4);
	assert_int_equal(rx_reg_read(fs->rx, 0x30800, &index), 0);
	assert_int_equal(index, 0xE0000000);
	assert_int_equal(io(fs, REQ_READ, regs, NULL, bank | 0x30800, v, 4), 4);
	assert_memory_equal(v, "\x00\x00\x01\x60", 4);
	assert_false(fs->hold);
}

static void scratch_names_become_sources_and_have_a_common_limit(void **state)
{
	struct fs *fs = *state;
	struct node *t = create(fs, fs->kernels_dir, ".k.cl.swp");
	struct handle *h = handle_new(fs, t, O_RDWR);
	struct request named = {.kind = REQ_CREATE, .node = fs->kernels_dir, .name = "k.log"};
	struct request bad = {.kind = REQ_CREATE, .node = fs->kernels_dir, .name = "a b.cl"};

	assert_true(node_is(t, NODE_SCRATCH));
	assert_int_equal(call(fs, &named), -EPERM);
	assert_int_equal(call(fs, &bad), -EINVAL);
	assert_int_equal(simple(fs, REQ_TRUNCATE, t, 16u << 20), 0);
	struct node *u = create(fs, fs->kernels_dir, "x.tmp");

	assert_int_equal(io(fs, REQ_WRITE, u, h, 0, "x", 1), -ENOSPC);
	assert_int_equal(simple(fs, REQ_TRUNCATE, t, 0), 0);
	assert_int_equal(io(fs, REQ_WRITE, u, h, 0, "x", 1), 1);
	assert_int_equal(fs->scratch_bytes, 1);
	struct node *cl = create(fs, fs->kernels_dir, "k.cl");

	assert_int_equal(simple(fs, REQ_TRUNCATE, cl, 4u << 20), 0);
	assert_int_equal(io(fs, REQ_WRITE, cl, h, 4u << 20, "x", 1), -EFBIG);
	assert_int_equal(fs->scratch_bytes, 1);
	struct request co = {.kind = REQ_CREATE, .node = fs->kernels_dir, .name = "k.co"};

	assert_int_equal(call(fs, &co), -EEXIST);
	handle_put(fs, h);
}

static void a_dropped_code_object_is_checked(void **state)
{
	struct fs *fs = *state;
	struct node *n = create(fs, fs->kernels_dir, "k.co");
	struct handle *h = handle_new(fs, n, O_RDWR);
	struct text log = {0};

	assert_int_equal(io(fs, REQ_WRITE, n, h, 0, "not an ELF file", 15), 15);
	assert_int_equal(io(fs, REQ_FLUSH, n, h, 0, NULL, 0), -EINVAL);
	assert_int_equal(io(fs, REQ_FLUSH, n, h, 0, NULL, 0), 0); /* nothing new was written */
	struct node *l = tree_find(fs->kernels_dir, "k.log");

	assert_non_null(l);
	l->type->ops->text(fs, l, &log);
	assert_non_null(strstr(log.data, "k.co: error: "));
	text_free(&log);
	handle_put(fs, h);
}

/* Queue a request whose reply nobody waits for. */
static void queue_read(struct fs *fs, struct node *n)
{
	struct request *r = request_new(fs, NULL, REQ_READ, n, NULL);

	r->size = 64;
	dispatch(r);
}

static void run_all(struct fs *fs)
{
	struct job *job;

	while ((job = jobs_take(fs->jobs, 0)) != NULL)
		fs_run_job(fs, job);
}

static void gone_cards_answer_without_a_call(void **state)
{
	struct fs *fs = *state;
	struct node *vram = tree_find(fs->root, "vram");

	uint64_t before = fake_calls(fs->rx);

	queue_read(fs, vram);
	run_all(fs);
	assert_int_equal(fake_calls(fs->rx), before + 1);
	fake_set_state(fs->rx, RX_GONE);
	queue_read(fs, vram);
	assert_null(jobs_take(fs->jobs, 0)); /* ENODEV at once, nothing was queued */
	assert_int_equal(fake_calls(fs->rx), before + 1);
	assert_int_equal(park_poll_events(fs, &(struct handle){.node = vram}) & 0x18, 0x18);
	fake_set_state(fs->rx, RX_READY);
}

struct probe {
	struct job job;
	struct fs *fs;
	char name;
	unsigned calls; /* to the card, each yields */
};

static char order[64];

static void run_probe(struct job *job)
{
	struct probe *p = (struct probe *)job;
	uint8_t b;
	size_t n = strlen(order);

	order[n] = p->name;
	for (unsigned i = 0; i < p->calls; i++)
		rx_vram_read(p->fs->rx, 0, &b, 1);
	order[strlen(order)] = (char)(p->name + 32);
}

static void the_owner_runs_more_urgent_jobs_in_between(void **state)
{
	struct fs *fs = *state;
	struct probe background = {{.run = run_probe, .priority = JOB_BACKGROUND}, fs, 'B', 2};
	struct probe same = {{.run = run_probe, .priority = JOB_INTERACTIVE}, fs, 'S', 1};
	struct probe urgent = {{.run = run_probe, .priority = JOB_FEED}, fs, 'F', 1};

	memset(order, 0, sizeof(order));
	jobs_put(fs->jobs, &same.job);
	jobs_put(fs->jobs, &urgent.job);
	fs_run_job(fs, &background.job);
	assert_string_equal(order, "BFfSsb");
}

static void modelled_time_of_a_job_excludes_jobs_inside_it(void **state)
{
	struct fs *fs = *state;
	struct probe outer = {{.run = run_probe, .priority = JOB_BACKGROUND}, fs, 'B', 2};
	struct probe inner = {{.run = run_probe, .priority = JOB_INTERACTIVE}, fs, 'S', 3};

	atomic_store(&fs->max_request_model_ns, 0);
	fake_set_model_step(fs->rx, 1000000);
	memset(order, 0, sizeof(order));
	jobs_put(fs->jobs, &inner.job);
	fs_run_job(fs, &outer.job);
	assert_int_equal(atomic_load(&fs->max_request_model_ns), 3000000);
}

static void a_request_the_queue_cannot_take_is_answered(void **state)
{
	struct fs *fs = *state;
	struct node *vram = tree_find(fs->root, "vram");
	unsigned ran = 0;
	struct job *job;

	for (unsigned i = 0; i < FS_MAX_REQUESTS + 10; i++)
		queue_read(fs, vram);
	while ((job = jobs_take(fs->jobs, 0)) != NULL) {
		fs_run_job(fs, job);
		ran++;
	}
	assert_int_equal(ran, FS_MAX_REQUESTS);
}

static void reset_card_forgets_buffers_and_counts_generations(void **state)
{
	struct fs *fs = *state;
	struct rx_info info;

	create(fs, fs->buffers_dir, "b");
	assert_int_equal(fs_reset_card(fs), 0);
	assert_null(fs->buffers_dir->children);
	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	assert_int_equal(info.generation, 2);
	create(fs, fs->buffers_dir, "b");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	        T(buffers_grow_by_writing_and_give_back_what_was_reserved),
	        T(a_removed_buffer_keeps_its_bytes_for_who_has_it_open),
	        T(pinned_buffers_keep_size_and_name),
	        T(no_room_is_enospc_and_changes_nothing),
	        T(copies_between_buffers_stay_on_the_card_when_aligned),
	        T(the_flash_comes_in_pieces_between_which_others_go),
	        T(xattrs_tell_address_type_and_shape),
	        T(registers_take_single_dwords_dumps_and_masks),
	        T(bank_bits_select_access_and_restore),
	        T(scratch_names_become_sources_and_have_a_common_limit),
	        T(a_dropped_code_object_is_checked),
	        T(gone_cards_answer_without_a_call),
	        T(the_owner_runs_more_urgent_jobs_in_between),
	        T(modelled_time_of_a_job_excludes_jobs_inside_it),
	        T(a_request_the_queue_cannot_take_is_answered),
	        T(reset_card_forgets_buffers_and_counts_generations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
