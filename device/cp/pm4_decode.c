/* pm4_decode.c - see pm4_decode.h. Layouts: polaris.md 7.3; register names: regs/names.h. */
#include "device/cp/pm4_decode.h"

#include "device/bytes.h"
#include "device/cp/pm4.h"
#include "device/regs/names.h"
#include "device/regs/regs.h"

static uint64_t address(const uint32_t *d)
{
	return d[0] | (uint64_t)d[1] << 32;
}

static void print_reg(FILE *out, uint32_t dword_index)
{
	const char *name = reg_name(dword_index * 4);

	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " reg 0x%04x", dword_index);
}

static void print_rest(FILE *out, const uint32_t *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %08x", d[i]);
}

static void print_set(FILE *out, const uint32_t *d, size_t n, uint32_t space)
{
	print_reg(out, space + (d[0] & PM4_SET_REG_OFFSET_MASK));
	fputs(" =", out);
	print_rest(out, d + 1, n - 1);
}

static void print_write_data(FILE *out, const uint32_t *d, size_t n)
{
	uint32_t dst = d[0] >> WRITE_DATA_DST_SHIFT & DATA_SEL_MASK;

	if (dst == DATA_SEL_REGISTER)
		print_reg(out, d[1]);
	else
		fprintf(out, " [0x%010llx]", (unsigned long long)address(d + 1));
	fprintf(out, "%s =", dst == DATA_SEL_TC_L2 ? " (L2)" : "");
	print_rest(out, d + 3, n - 3);
}

static void print_wait(FILE *out, const uint32_t *d)
{
	static const char *const functions[] = {"always", "<", "<=", "==", "!=", ">=", ">", "?"};
	uint32_t operation = d[0] >> WAIT_OPERATION_SHIFT & WAIT_OPERATION_MASK;

	if (operation == WAIT_OP_WRITE_WAIT) {
		print_reg(out, d[1]);
		fprintf(out, " = %08x, until", d[3]);
		print_reg(out, d[2]);
	} else if ((d[0] >> WAIT_SPACE_SHIFT & WAIT_SPACE_MASK) == WAIT_SPACE_MEMORY) {
		fprintf(out, " [0x%010llx]%s", (unsigned long long)address(d + 1),
		        d[0] & WAIT_UNCACHED ? "" : " (cached)");
	} else {
		print_reg(out, d[1]);
	}
	fprintf(out, " & %08x %s %08x", d[4], functions[d[0] & WAIT_FUNCTION_MASK], d[3]);
}

static void print_cache_actions(FILE *out, uint32_t coher)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} actions[] = {{TC_WB_ACTION_ENA, "TC_WB"}, {TC_ACTION_ENA, "TC"}, {TC_NC_ACTION_ENA, "NC"},
	        {TCL1_ACTION_ENA, "TCL1"}, {SH_KCACHE_ACTION_ENA, "KCACHE"},
	        {SH_ICACHE_ACTION_ENA, "ICACHE"}};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (coher & actions[i].bit)
			fprintf(out, " %s", actions[i].name);
}

static void print_copy(FILE *out, const uint32_t *d)
{
	fprintf(out, " src %u [0x%010llx] -> dst %u [0x%010llx]", d[0] & COPY_DATA_SRC_MASK,
	        (unsigned long long)address(d + 1), d[0] >> COPY_DATA_DST_SHIFT & DATA_SEL_MASK,
	        (unsigned long long)address(d + 3));
}

static void print_payload(FILE *out, uint32_t op, const uint32_t *d, size_t n)
{
	switch (op) {
	case PKT3_SET_SH_REG: print_set(out, d, n, PACKET3_SET_SH_REG_START); break;
	case PKT3_SET_UCONFIG_REG: print_set(out, d, n, PACKET3_SET_UCONFIG_REG_START); break;
	case PKT3_WRITE_DATA: print_write_data(out, d, n); break;
	case PKT3_WAIT_REG_MEM: print_wait(out, d); break;
	case PKT3_ACQUIRE_MEM: print_cache_actions(out, d[0]); break;
	case PKT3_COPY_DATA: print_copy(out, d); break;
	case PKT3_DISPATCH_DIRECT:
		fprintf(out, " %u x %u x %u groups, initiator 0x%x", d[0], d[1], d[2], d[3]);
		break;
	case PKT3_DISPATCH_INDIRECT:
		fprintf(out, " groups at [0x%010llx]", (unsigned long long)address(d));
		break;
	case PKT3_RELEASE_MEM:
		fprintf(out, " [0x%010llx] = %08x", (unsigned long long)address(d + 2), d[4]);
		break;
	case PKT3_INDIRECT_BUFFER:
		fprintf(out, " [0x%010llx], %u dwords%s", (unsigned long long)address(d),
		        d[2] & IB_SIZE_MASK, d[2] & IB_CHAIN ? ", chain" : "");
		break;
	default: print_rest(out, d, n); break;
	}
}

/* Name, and payload dwords that print_payload() reads at least. */
static const struct packet {
	uint32_t op;
	const char *name;
	size_t min;
} packets[] = {{PKT3_NOP, "NOP", 0}, {PKT3_DISPATCH_DIRECT, "DISPATCH_DIRECT", 4},
        {PKT3_DISPATCH_INDIRECT, "DISPATCH_INDIRECT", 3}, {PKT3_ATOMIC_MEM, "ATOMIC_MEM", 0},
        {PKT3_COND_EXEC, "COND_EXEC", 0}, {PKT3_WRITE_DATA, "WRITE_DATA", 4},
        {PKT3_WAIT_REG_MEM, "WAIT_REG_MEM", 6}, {PKT3_INDIRECT_BUFFER, "INDIRECT_BUFFER", 3},
        {PKT3_COPY_DATA, "COPY_DATA", 5}, {PKT3_COND_WRITE, "COND_WRITE", 0},
        {PKT3_EVENT_WRITE, "EVENT_WRITE", 0}, {PKT3_RELEASE_MEM, "RELEASE_MEM", 6},
        {PKT3_DMA_DATA, "DMA_DATA", 0}, {PKT3_ACQUIRE_MEM, "ACQUIRE_MEM", 6},
        {PKT3_REWIND, "REWIND", 0}, {PKT3_SET_SH_REG, "SET_SH_REG", 2},
        {PKT3_SET_UCONFIG_REG, "SET_UCONFIG_REG", 2}, {PKT3_PRED_EXEC, "PRED_EXEC", 0}};

static const struct packet *find_packet(uint32_t op)
{
	for (size_t i = 0; i < ARRAY_SIZE(packets); i++)
		if (packets[i].op == op)
			return &packets[i];
	return NULL;
}

/* One packet. Return: dwords used. */
static size_t print_packet(FILE *out, uint64_t addr, const uint32_t *dw, size_t count)
{
	uint32_t header = dw[0], op = header >> PM4_OPCODE_SHIFT & PM4_OPCODE_MASK;
	size_t n = (header >> PM4_COUNT_SHIFT & PM4_COUNT_MASK) + 1u; /* payload dwords */
	const struct packet *p = find_packet(op);

	fprintf(out, "0x%010llx ", (unsigned long long)addr);
	if (header >> PM4_TYPE_SHIFT != PM4_TYPE3 || n >= count || (p && n < p->min)) {
		fprintf(out, "%08x (not a packet)\n", header);
		return 1;
	}
	if (p)
		fputs(p->name, out);
	else
		fprintf(out, "opcode 0x%02x", op);
	if (op != PKT3_NOP)
		print_payload(out, op, dw + 1, n);
	fputc('\n', out);
	return n + 1;
}

void pm4_print(FILE *out, uint64_t addr, const uint32_t *dw, size_t count)
{
	size_t i = 0;

	while (i < count) {
		size_t filler = 0;
		while (i + filler < count && dw[i + filler] == PM4_FILLER)
			filler++;
		if (filler)
			fprintf(out, "0x%010llx NOP x %zu\n", (unsigned long long)(addr + 4 * i),
			        filler);
		i += filler;
		if (i < count)
			i += print_packet(out, addr + 4 * i, dw + i, count - i);
	}
}
