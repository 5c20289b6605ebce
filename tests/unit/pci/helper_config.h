/* helper_config.h - a bridge with nothing but configuration space behind it: 256 bytes, of which a
 * test says what is in them and which bits can be written. Memory requests are noted. The driver's
 * log of a test is kept.
 */
#ifndef HELPER_CONFIG_H
#define HELPER_CONFIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/bytes.h"
#include "device/pci/pci.h"

#define CONFIG_DWORDS 64u
#define CONFIG_SAID   4096u
/* of a type 0 header */
#define AT_ID       0x00u
#define AT_COMMAND  0x04u
#define AT_CLASS    0x08u
#define AT_HEADER   0x0Cu
#define AT_BAR(i)   (0x10u + 4u * (unsigned)(i))
#define AT_ROM      0x30u
#define AT_CAPS     0x34u
#define COMMAND_MEM 2u

struct config {
	struct bridge bridge; /* first */
	struct bridge_info info;
	uint32_t value[CONFIG_DWORDS], writable[CONFIG_DWORDS];
	bool dead; /* all ones for every read; writes are lost */
	unsigned reads, writes;
	unsigned bad_sizing;    /* BAR writes while memory decode was on */
	uint32_t rom_when_read; /* the ROM's BAR and the hooks as they were at the last memory read
	                         */
	bool hooks_when_read;
	uint64_t read_at;
	uint32_t audio_id; /* of function 1; all ones: not there */
	struct pci *pci;
	char said[CONFIG_SAID];
};

int config_setup(void **state); /* cmocka set-up: an RX 580's header, BARs where RTL's put them */
int config_teardown(void **state);

uint32_t config_get(const struct config *c, unsigned reg);
void config_set(struct config *c, unsigned reg, uint32_t value, uint32_t writable);
/* config_bar - BAR @i, at @addr; @type: its low bits. */
void config_bar(struct config *c, unsigned i, uint64_t addr, uint64_t size, uint32_t type);
void config_no_bar(struct config *c, unsigned i);
/* config_said - fails the test when the log does not have @word. */
void config_said(const struct config *c, const char *word);

#endif
