/* options.h - the command line of rx580fs, also as a mount helper (mount.rx580fs DEV DIR -o ...).
 */
#ifndef FS_OPTIONS_H
#define FS_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

struct options {
	const char *card;       /* "auto" when not given */
	const char *mountpoint; /* NULL with --run */
	const char *run;        /* --run 'CMD' */
	const char *trace;      /* --trace FILE, or NULL */
	const char *vbios;      /* --vbios FILE, or NULL */
	const char *firmware;   /* --firmware DIR, or NULL */
	bool foreground, help, version;
	bool allow_other, read_only, verbose;
	bool no_dpm;    /* boot clocks, no power management */
	bool no_attach; /* -o attach=no: reset a card that runs */
	bool keep;      /* -o keep: what lives in VRAM stays after unmounting */
	uid_t uid;
	gid_t gid;
	mode_t umask;
	unsigned sample_ms;
};

/* options_parse - Return: 0; -EINVAL, said on stderr. */
int options_parse(struct options *o, int argc, char **argv);
void options_usage(void); /* on stdout */

#endif
