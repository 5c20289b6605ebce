/* fault_names.c - faults as words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/bytes.h"
#include "device/virtual/card/card.h"

static const struct {
	const char *name;
	enum vcard_fault fault;
	bool wants_value;
	unsigned add; /* to the value given */
} names[] = {
        {"fan-stuck", VCARD_FAULT_FAN_STUCK, false, 0},
        {"smu-silent", VCARD_FAULT_SMU_SILENT, false, 0},
        {"smu-fails", VCARD_FAULT_SMU_FAILS, true, 0},
        {"smu-rejects", VCARD_FAULT_SMU_REJECTS, false, 0},
        {"ucode-stuck", VCARD_FAULT_UCODE_STUCK, true, 0},
        {"mec-dead", VCARD_FAULT_MEC_DEAD, false, 0},
        {"overheat", VCARD_FAULT_OVERHEAT, true, 0},
        {"mc-deaf", VCARD_FAULT_MC_DEAF, false, 0},
        {"load", VCARD_FAULT_LOAD, true, 1},
        {"sensor-dead", VCARD_FAULT_SENSOR_DEAD, false, 0},
        {"vram-alias", VCARD_FAULT_VRAM_ALIAS, false, 0},
};

int vcard_fault_parse(const char *text, enum vcard_fault *fault, unsigned *value)
{
	size_t len = strcspn(text, "=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *end = NULL;
		unsigned long n = 1;

		if (strlen(names[i].name) != len || strncmp(text, names[i].name, len) != 0)
			continue;
		if (names[i].wants_value != (text[len] == '='))
			return -EINVAL;
		if (names[i].wants_value) {
			n = strtoul(text + len + 1, &end, 0);
			if (end == text + len + 1 || *end || n > 0xFFFF)
				return -EINVAL;
		}
		*fault = names[i].fault;
		*value = (unsigned)n + names[i].add;
		return 0;
	}
	return -EINVAL;
}
