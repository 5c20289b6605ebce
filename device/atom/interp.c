/* interp.c - the instructions and the loop that runs them. Side effects come in the order of
 * atombios.md 6.2: destination read, source read, destination write.
 */
#include "device/atom/atom_priv.h"
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"

#define NO_DESTINATION 0xFF

/* what an opcode is: its family (or itself) and its destination */
static const struct {
	uint8_t op, dst;
} decode[ATOM_OPCODES] = {
#define ROW(name, first, dst, at) [(first) + (at)] = {ATOM_##name, (dst) + (at)}
#define ROWS_6(name, first)                                                                        \
	ROW(name, first, 0, 0), ROW(name, first, 0, 1), ROW(name, first, 0, 2),                    \
	        ROW(name, first, 0, 3), ROW(name, first, 0, 4), ROW(name, first, 0, 5)
#define ROWS_2(name, first)   ROW(name, first, ATOM_DST_PS, 0), ROW(name, first, ATOM_DST_PS, 1)
#define X(name, first, count) ROWS_##count(name, first),
        ATOM_FAMILIES(X)
#undef X
#define X(name, code) [code] = {ATOM_##name, NO_DESTINATION},
                ATOM_SINGLES(X)
#undef X
};

/* one instruction with a destination, decoded */
struct instruction {
	enum atom_opcode op; /* of the family */
	enum atom_dst kind;
	uint8_t attr;
	enum atom_align width, place; /* of the source field; of the destination field */
	uint32_t index;
};

static uint32_t get_field(uint32_t container, enum atom_align place)
{
	return (container & atom_fields[place].mask) >> atom_fields[place].shift;
}

static void put_field(
        struct frame *f, const struct instruction *in, uint32_t container, uint32_t value)
{
	const struct field *d = &atom_fields[in->place];

	atom_container_write(
	        f, in->kind, in->index, (container & ~d->mask) | (value << d->shift & d->mask));
}

static void move(struct frame *f, const struct instruction *in)
{
	/* a whole dword is not read first: atombios.md 6.2 */
	uint32_t container =
	        in->width == ATOM_DWORD ? 0 : atom_container_read(f, in->kind, in->index);

	put_field(f, in, container, atom_fetch_source(f, in->attr));
}

static void shift_by_count(struct frame *f, const struct instruction *in)
{
	uint32_t container = atom_container_read(f, in->kind, in->index);
	uint32_t x = get_field(container, in->place);
	unsigned count = atom_fetch(f, 1) & 31; /* atombios.md 6.4: modulo 32 */

	put_field(f, in, container, in->op == ATOM_SHIFT_LEFT ? x << count : x >> count);
}

/* shift_container - SHL and SHR move the whole container, then take the field out of it. */
static void shift_container(struct frame *f, const struct instruction *in)
{
	uint32_t container = atom_container_read(f, in->kind, in->index);
	unsigned count = atom_fetch_source(f, in->attr) & 31;
	uint32_t moved = in->op == ATOM_SHL ? container << count : container >> count;

	put_field(f, in, container, get_field(moved, in->place));
}

static void combine(struct frame *f, const struct instruction *in)
{
	uint32_t container = atom_container_read(f, in->kind, in->index);
	uint32_t x = get_field(container, in->place);
	uint32_t y = atom_fetch_source(f, in->attr);

	switch (in->op) {
	case ATOM_AND: x &= y; break;
	case ATOM_OR: x |= y; break;
	case ATOM_XOR: x ^= y; break;
	case ATOM_ADD: x += y; break;
	default: x -= y; break; /* SUB */
	}
	put_field(f, in, container, x);
}

static void mask(struct frame *f, const struct instruction *in)
{
	uint32_t container = atom_container_read(f, in->kind, in->index);
	uint32_t keep = atom_fetch_immediate(f, in->width);
	uint32_t y = atom_fetch_source(f, in->attr);

	put_field(f, in, container, (get_field(container, in->place) & keep) | y);
}

static void clear(struct frame *f, const struct instruction *in)
{
	put_field(f, in, atom_container_read(f, in->kind, in->index), 0);
}

/* divide - DIV32 stores the upper half of the quotient, not the remainder: atombios.md 6.4. */
static void divide(struct atom *a, enum atom_opcode op, uint32_t x, uint32_t y)
{
	uint64_t dividend = op == ATOM_DIV32 ? (uint64_t)a->remainder << 32 | x : x;
	uint64_t quotient = y ? dividend / y : 0;

	a->quotient = (uint32_t)quotient;
	a->remainder = op == ATOM_DIV32 ? (uint32_t)(quotient >> 32) : y ? x % y : 0;
}

static void multiply(struct atom *a, enum atom_opcode op, uint32_t x, uint32_t y)
{
	uint64_t product = (uint64_t)x * y;

	a->quotient = (uint32_t)product;
	if (op == ATOM_MUL32)
		a->remainder = (uint32_t)(product >> 32);
}

/* evaluate - the instructions that write only the interpreter's registers. */
static void evaluate(struct frame *f, const struct instruction *in)
{
	struct atom *a = f->a;
	uint32_t x = get_field(atom_container_read(f, in->kind, in->index), in->place);
	uint32_t y = atom_fetch_source(f, in->attr);

	if (f->err)
		return;
	switch (in->op) {
	case ATOM_MUL:
	case ATOM_MUL32: multiply(a, in->op, x, y); break;
	case ATOM_DIV:
	case ATOM_DIV32: divide(a, in->op, x, y); break;
	case ATOM_COMPARE:
		a->equal = x == y;
		a->above = x > y;
		break;
	default: a->equal = !(x & y); break; /* TEST leaves "above": atombios.md 6.4 */
	}
}

static void with_destination(struct frame *f, enum atom_opcode op, enum atom_dst kind)
{
	struct instruction in = {.op = op, .kind = kind, .attr = (uint8_t)atom_fetch(f, 1)};

	in.width = in.attr >> 3 & 7;
	in.place = atom_dst_align(in.width, in.attr >> 6);
	in.index = atom_fetch_index(f, kind);
	if (f->err)
		return;
	switch (op) {
	case ATOM_MOVE: move(f, &in); break;
	case ATOM_SHIFT_LEFT:
	case ATOM_SHIFT_RIGHT:
	case ATOM_CLEAR: /* the field is the source's: atombios.md 6.1 */
		in.place = in.width;
		(op == ATOM_CLEAR ? clear : shift_by_count)(f, &in);
		break;
	case ATOM_SHL:
	case ATOM_SHR: shift_container(f, &in); break;
	case ATOM_MASK: mask(f, &in); break;
	case ATOM_AND:
	case ATOM_OR:
	case ATOM_XOR:
	case ATOM_ADD:
	case ATOM_SUB: combine(f, &in); break;
	default: evaluate(f, &in); break;
	}
}

static void go_to(struct frame *f, uint32_t target)
{
	if (f->err)
		return;
	if (target < ATOM_COMMAND_CODE || f->start + target >= f->end)
		atom_stop(f, -EINVAL, "jumps to 0x%x, outside its table", target);
	else
		f->pc = f->start + target;
}

/* watch_loop - a table whose code gets no further for too long waits for what will not come. The
 * mark is the furthest jump, so that loops within loops and calls within loops count as one wait.
 */
static void watch_loop(struct frame *f)
{
	struct atom *a = f->a;
	uint64_t now = now_ns();

	if (f->pc > f->furthest) {
		f->furthest = f->pc;
		f->since = now;
	} else if (now - f->since > a->limits.loop_ms * 1000000ull) {
		atom_stop(f, -ETIMEDOUT,
		        "waited %u ms in a loop; register 0x%x was last read as 0x%08x",
		        a->limits.loop_ms, a->last_reg, a->last_value);
	}
}

static void jump(struct frame *f, enum atom_opcode op)
{
	const struct atom *a = f->a;
	uint32_t target = atom_fetch(f, 2);
	bool taken = true;

	switch (op) {
	case ATOM_JUMP_EQUAL: taken = a->equal; break;
	case ATOM_JUMP_NOT_EQUAL: taken = !a->equal; break;
	case ATOM_JUMP_ABOVE: taken = a->above; break;
	case ATOM_JUMP_ABOVE_OR_EQUAL: taken = a->above || a->equal; break;
	case ATOM_JUMP_BELOW: taken = !a->above && !a->equal; break;
	case ATOM_JUMP_BELOW_OR_EQUAL: taken = !a->above; break;
	default: break;
	}
	if (!taken)
		return;
	watch_loop(f);
	go_to(f, target);
}

/* switch_cases - atombios.md 6.5: the first case that fits; behind the list when none does. */
static void switch_cases(struct frame *f)
{
	uint8_t attr = (uint8_t)atom_fetch(f, 1);
	uint32_t value = atom_fetch_source(f, attr);

	while (!f->err) {
		uint32_t at = f->pc;

		if (atom_fetch(f, 2) == ATOM_CASE_END)
			return;
		f->pc = at;
		if (atom_fetch(f, 1) != ATOM_CASE) {
			f->pc = at; /* Linux goes on from this byte */
			atom_complain(f, ATOM_BAD_CASE);
			return;
		}
		uint32_t wanted = atom_fetch_immediate(f, attr >> 3 & 7);
		uint32_t target = atom_fetch(f, 2);

		if (wanted == value) {
			go_to(f, target);
			return;
		}
	}
}

static void call(struct frame *f)
{
	struct atom *a = f->a;
	unsigned table = atom_fetch(f, 1), own = MIN(f->ps_own, f->ps_count);
	uint32_t where = a->where;

	if (f->err || table >= ATOM_COMMAND_COUNT || !a->rom.command[table].size)
		return; /* an absent table is skipped: atombios.md 6.5 */
	if (f->depth + 1 == ATOM_MAX_DEPTH) {
		atom_stop(f, -ELOOP, "calls nest more than %u deep", ATOM_MAX_DEPTH);
		return;
	}
	f->err = atom_run_table(a, table, f->ps + own, f->ps_count - own, f->depth + 1);
	a->where = where;
}

static void set_data_block(struct frame *f)
{
	struct atom *a = f->a;
	unsigned index = atom_fetch(f, 1);

	if (index == ATOM_BLOCK_NONE)
		a->data_block = 0;
	else if (index == ATOM_BLOCK_TABLE)
		a->data_block = (uint16_t)f->start;
	else if (index < ATOM_DATA_COUNT)
		a->data_block = a->rom.table[index].offset; /* 0 if absent */
	else
		atom_stop(f, -EINVAL, "data table %u does not exist", index);
}

static void set_port(struct frame *f)
{
	uint32_t port = atom_fetch(f, 2);

	if (port >= ATOM_IIO_WRITE_PROGRAM)
		atom_stop(f, -EINVAL, "I/O port 0x%x does not exist", port);
	else
		f->a->port = (uint8_t)port;
}

static void delay(struct frame *f, uint32_t unit_us)
{
	uint32_t us = atom_fetch(f, 1) * unit_us;
	int err = f->err ? f->err : f->a->host.delay_us(f->a->host.ctx, us);

	if (err)
		atom_stop(f, err, "the delay of %u us failed", us);
}

static void skip_data(struct frame *f)
{
	uint32_t length = atom_fetch(f, 2);

	if (f->err)
		return;
	if (!range_ok(f->pc, length, f->end))
		atom_stop(f, -EINVAL, "%u bytes of data do not fit its table", length);
	else
		f->pc += length;
}

static void control(struct frame *f, enum atom_opcode op)
{
	struct atom *a = f->a;

	switch (op) {
	case ATOM_SET_ATI_PORT: set_port(f); break;
	case ATOM_SET_REG_BLOCK: a->reg_block = (uint16_t)atom_fetch(f, 2); break;
	case ATOM_SET_FB_BASE: a->fb_base = atom_fetch_source(f, (uint8_t)atom_fetch(f, 1)); break;
	case ATOM_SET_DATA_BLOCK: set_data_block(f); break;
	case ATOM_SWITCH: switch_cases(f); break;
	case ATOM_DELAY_MILLISEC: delay(f, 1000); break;
	case ATOM_DELAY_MICROSEC: delay(f, 1); break;
	case ATOM_CALL_TABLE: call(f); break;
	case ATOM_NOP: break;
	case ATOM_EOT: f->done = true; break;
	case ATOM_POST_CARD:
	case ATOM_DEBUG: atom_fetch(f, 1); break; /* for a debug port */
	case ATOM_CTB_DS: skip_data(f); break;
	default: /* REPEAT, BEEP, ...: their form is unknown: atombios.md 6.9 */
		atom_stop(f, -EOPNOTSUPP, "no interpreter knows this opcode");
	}
}

static void check_limits(struct frame *f)
{
	struct atom *a = f->a;

	if (a->steps == a->limits.max_steps)
		atom_stop(f, -ETIMEDOUT, "no end after %llu instructions",
		        (unsigned long long)a->steps);
	else if (a->limits.deadline_ns && deadline_passed(a->limits.deadline_ns))
		atom_stop(f, -ETIMEDOUT,
		        "the deadline has passed; register 0x%x was last read as 0x%08x",
		        a->last_reg, a->last_value);
	else
		a->steps++;
}

static void step(struct frame *f)
{
	f->a->where = f->pc;
	f->opcode = 0;
	f->opcode = (uint8_t)atom_fetch(f, 1);
	if (!f->err)
		check_limits(f);
	if (f->err)
		return;
	enum atom_opcode op = f->opcode < ATOM_OPCODES ? decode[f->opcode].op : 0;

	if (!op)
		atom_stop(f, -EINVAL, "invalid opcode");
	else if (op >= ATOM_JUMP && op <= ATOM_JUMP_NOT_EQUAL)
		jump(f, op);
	else if (decode[f->opcode].dst != NO_DESTINATION)
		with_destination(f, op, decode[f->opcode].dst);
	else
		control(f, op);
}

int atom_run_table(struct atom *a, unsigned table, uint32_t *ps, unsigned ps_count, unsigned depth)
{
	const struct vbios_table *t = &a->rom.command[table];
	struct frame f = {.a = a,
	        .table = table,
	        .depth = depth,
	        .start = t->offset,
	        .end = t->offset + (uint32_t)t->size,
	        .pc = t->offset + (uint32_t)ATOM_COMMAND_CODE,
	        .ps = ps,
	        .ps_count = ps_count,
	        .ps_own = t->ps_bytes / 4,
	        .ws_count = t->ws_bytes / 4};

	if (a->host.enter)
		a->host.enter(a->host.ctx, table, f.start);
	while (!f.err && !f.done)
		step(&f);
	if (!f.err && a->host.leave)
		a->host.leave(a->host.ctx);
	return f.err;
}
