/* helper_lasting.h - a virtual enclosure that outlives its drivers: what does a start that failed
 * leave behind, and does the next one succeed?
 */
#ifndef HELPER_LASTING_H
#define HELPER_LASTING_H

#include <stdbool.h>
#include <stdint.h>

#include "device/rx580.h"
#include "device/virtual/card/card.h"
#include "device/virtual/enclosure/enclosure.h"

#define LASTING_SAID  16384
#define LASTING_STEPS 24

struct lasting {
	struct venc *enclosure;
	struct vcard *card;
	char said[LASTING_SAID]; /* lines of the driver's log since the last start */
	unsigned host_ms;        /* the last start took */
	/* damage done when the step whose name begins with this is next; NULL: none */
	const char *before;
	void (*damage)(struct lasting *l, const void *what);
	const void *what;
	bool done;
	/* takes it back as soon as the card was reset since; NULL: never */
	void (*repair)(struct lasting *l, const void *what);
	const char *firmware; /* rx_options.firmware */
	/* Commands of the driver since its start, and how many there were after each step of it */
	unsigned long commands, step_end[LASTING_STEPS];
	unsigned steps;
	/* The driver does not get beyond this many: it is killed, or the cable is pulled, and every
	 * call is ENODEV from there on. 0: never */
	unsigned long end_after;
	/* the same, counted from the end of this step of its start on; 0: from its beginning */
	unsigned end_step;
	bool end_inside; /* of the last one: its data and status are never fetched */
	bool ended;
};

/* lasting_new - @options: as behind "--card virtual,". Asserts. */
void lasting_new(struct lasting *l, const char *options);
void lasting_free(struct lasting *l);
/* lasting_start - a driver on it. Return: of rx_open. */
int lasting_start(struct lasting *l, struct rx580 **rx);
/* lasting_take - the same, asserted, with the card found as @want. */
struct rx580 *lasting_take(struct lasting *l, enum rx_attach want);
/* lasting_die - as a process that is killed: nothing more is written, and nothing said. */
void lasting_die(struct rx580 *rx);
/* lasting_said - fails the test when the log does not have @word. */
void lasting_said(const struct lasting *l, const char *word);

/* What is on the card now, looked up by a driver's lower half that changes nothing. */
struct lasting_look {
	bool smu_running;
	bool queue_active[2]; /* of the first two pipes of MEC1 */
	bool mec_halted;
	unsigned duty, full_duty; /* of the fan, now */
};
void lasting_look(struct lasting *l, struct lasting_look *out);

#endif
