/* helper_host.h - the USB host of the tests: one command over the bulk pair, nothing repaired
 * behind the test's back. */
#ifndef HELPER_HOST_H
#define HELPER_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device/virtual/enclosure/enclosure.h"

#define CSW_GOOD   0
#define CSW_FAILED 1
#define CSW_PHASE  2

/* What one command did on the wire. */
struct answer {
	int data;       /* bytes of the data phase, or -errno */
	int csw;        /* size of the CSW, or -errno of the first attempt */
	uint8_t status; /* valid after a CSW */
	uint32_t tag, residue;
};

struct venc *host_new(void);
struct venc *host_new_with(struct venc_options opt);

int host_cbw(struct venc *e, const uint8_t *cdb, unsigned cdb_len, uint32_t len, bool in);
/* host_csw - fetch it; a halted IN endpoint is reported in a->csw, cleared, and the CSW read then.
 */
void host_csw(struct venc *e, struct answer *a);
struct answer host_command(
        struct venc *e, const uint8_t *cdb, unsigned cdb_len, void *data, uint32_t len, bool in);

/* Vendor commands; both return the CSW status. */
int rtl_in(struct venc *e, uint8_t sub, uint32_t address, void *data, uint32_t len);
int rtl_out(struct venc *e, uint8_t sub, uint32_t address, const void *data, uint32_t len);
uint32_t rtl_in32(struct venc *e, uint8_t sub, uint32_t address);
void rtl_out32(struct venc *e, uint8_t sub, uint32_t address, uint32_t value);
void rtl_unlock(struct venc *e);

int host_clear_halt(struct venc *e, uint8_t endpoint);
int host_class_reset(struct venc *e);
/* host_sense - key << 16 | ASC << 8 | ASCQ of REQUEST SENSE */
uint32_t host_sense(struct venc *e);
uint64_t own_guest_errors(struct venc *e); /* without the fake card's constant */

#endif
