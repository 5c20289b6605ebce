/* rtl921x_firmware.c - what differs from one stock firmware to the next (bridge.md 2.8, 5.3). The
 * defects of bridge.md 2.9 and 2.10 are in all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/bytes.h"
#include "device/err.h"
#include "device/virtual/enclosure/venc_priv.h"

/* bridge.md 8.1: versions and, in the images' names, dates */
static const struct rtl_firmware FIRMWARE[] = {
        {.version = {1, 29, 391}, .date = 20220728},
        {.version = {1, 32, 16}, .date = 20230109},
        {.version = {1, 32, 49}, .date = 20230414},
        {.version = {1, 32, 87}, .date = 20230829, .quirks = true, .closed_page = true},
        {.version = {4, 30, 23}, .golden = true},
};
#define NEWEST (&FIRMWARE[3])

int venc_firmware_select(struct venc *e)
{
	uint32_t v[3];
	int end = 0;

	e->firmware = *NEWEST;
	if (!e->opt.firmware[0])
		return 0;
	if (e->opt.firmware[strspn(e->opt.firmware, "0123456789.")] ||
	        sscanf(e->opt.firmware, "%4u.%4u.%4u%n", &v[0], &v[1], &v[2], &end) != 3 ||
	        e->opt.firmware[end])
		return rx_fail("virtual", -EINVAL,
		        "\"%s\" is no firmware version of the virtual bridge, such as 1.32.49",
		        e->opt.firmware);
	for (size_t i = 0; i < ARRAY_SIZE(FIRMWARE); i++)
		if (!memcmp(FIRMWARE[i].version, v, sizeof(v))) {
			e->firmware = FIRMWARE[i];
			return 0;
		}
	memcpy(e->firmware.version, v, sizeof(v)); /* one nobody has analysed */
	return 0;
}

bool venc_firmware_knows(const struct venc *e, uint8_t opcode, uint8_t sub)
{
	static const uint8_t golden[] = {0x92, 0x96, 0xA2, 0xA5, 0xA6}; /* bridge.md 5.3 */

	if (e->firmware.golden)
		return opcode == 0xE2 && memchr(golden, sub, sizeof(golden));
	return sub != 0xD1 || e->firmware.quirks;
}

int venc_parse_engine(const char *text, unsigned *engine)
{
	static const struct {
		const char *word;
		unsigned bits;
	} words[] = {{"functions", VENC_ENGINE_FUNCTIONS}, {"type1", VENC_ENGINE_TYPE1},
	        {"64bit", VENC_ENGINE_64BIT}, {"burst", VENC_ENGINE_BURST},
	        {"bytes", VENC_ENGINE_BYTES}, {"all", ~0u}};

	for (;; text++) {
		size_t len = strcspn(text, "+"), i = 0;

		while (i < ARRAY_SIZE(words) &&
		        (strlen(words[i].word) != len || strncmp(words[i].word, text, len) != 0))
			i++;
		if (i == ARRAY_SIZE(words))
			return -EINVAL;
		*engine |= words[i].bits;
		text += len;
		if (!*text)
			return 0;
	}
}
