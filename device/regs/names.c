/* names.c - see names.h. */
#include "device/regs/names.h"

#include "device/bytes.h"
#include "device/regs/regs.h"

struct named {
	uint32_t at;
	const char *name;
};

static const struct named registers[] = {
#define X(name, offset) {offset, #name},
        RX_REGISTERS(X)
#undef X
};

static const struct named smc[] = {
#define X(name, address) {address, "SMC " #name},
        RX_SMC_REGISTERS(X)
#undef X
};

static const char *find(const struct named *list, size_t n, uint32_t at)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].at == at)
			return list[i].name;
	return NULL;
}

const char *reg_name(uint32_t offset)
{
	return find(registers, ARRAY_SIZE(registers), offset);
}

const char *smc_name(uint32_t address)
{
	return find(smc, ARRAY_SIZE(smc), address);
}
