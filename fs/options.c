/* options.c - see options.h. */
#include "fs/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words of fstab that are for others: mount(8), systemd.mount(5). */
static const char *const tolerated[] = {"rw", "user", "nouser", "users", "owner", "group", "auto",
        "noauto", "_netdev", "nofail", "defaults", "suid", "nosuid", "dev", "nodev", "exec",
        "noexec", "async", "sync", "atime", "noatime", "relatime"};

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "rx580fs: %s \"%s\"; try rx580fs --help\n", what, text);
	return -EINVAL;
}

static int number(
        const char *word, const char *value, int base, unsigned long max, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(value, &end, base);
	if (errno || end == value || *end || value[0] == '-' || *out > max)
		return complain("bad number in", word);
	return 0;
}

static bool is_tolerated(const char *word)
{
	for (size_t i = 0; i < sizeof(tolerated) / sizeof(tolerated[0]); i++)
		if (!strcmp(word, tolerated[i]))
			return true;
	return !strncmp(word, "x-", 2) || !strncmp(word, "comment=", 8);
}

static int set_word(struct options *o, const char *word)
{
	unsigned long v;
	int err = 0;

	if (!strcmp(word, "allow_other"))
		o->allow_other = true;
	else if (!strcmp(word, "ro"))
		o->read_only = true;
	else if (!strcmp(word, "dpm=off"))
		o->no_dpm = true;
	else if (!strcmp(word, "keep"))
		o->keep = true;
	else if (!strcmp(word, "attach=no") || !strcmp(word, "attach=auto"))
		o->no_attach = !strcmp(word, "attach=no");
	else if (!strncmp(word, "card=", 5))
		o->card = word + 5;
	else if (!strncmp(word, "vbios=", 6))
		o->vbios = word + 6;
	else if (!strncmp(word, "firmware=", 9))
		o->firmware = word + 9;
	else if (!strncmp(word, "uid=", 4) && !(err = number(word, word + 4, 10, 0xfffffffe, &v)))
		o->uid = (uid_t)v;
	else if (!strncmp(word, "gid=", 4) && !(err = number(word, word + 4, 10, 0xfffffffe, &v)))
		o->gid = (gid_t)v;
	else if (!strncmp(word, "umask=", 6) && !(err = number(word, word + 6, 8, 0777, &v)))
		o->umask = (mode_t)v;
	else if (!strncmp(word, "sample_ms=", 10) &&
	         !(err = number(word, word + 10, 10, 3600000, &v)))
		o->sample_ms = v < 100 ? 100 : (unsigned)v;
	else if (!err && !is_tolerated(word))
		err = complain("unknown mount option", word);
	return err;
}

/* A comma inside card=... belongs to the next option, so --card is the way to give card options. */
static int set_words(struct options *o, char *words)
{
	char *save = NULL;

	for (char *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		int err = set_word(o, w);

		if (err)
			return err;
	}
	return 0;
}

static int set_flag(struct options *o, const char *flag)
{
	if (!strcmp(flag, "-f") || !strcmp(flag, "--foreground"))
		o->foreground = true;
	else if (!strcmp(flag, "-h") || !strcmp(flag, "--help"))
		o->help = true;
	else if (!strcmp(flag, "-V") || !strcmp(flag, "--version"))
		o->version = true;
	else if (!strcmp(flag, "-v"))
		o->verbose = true;
	else if (!strcmp(flag, "--no-dpm"))
		o->no_dpm = true;
	else if (strcmp(flag, "-s") != 0 && strcmp(flag, "-n") != 0) /* mount(8) passes these on */
		return complain("unknown option", flag);
	return 0;
}

static int set_valued(struct options *o, const char *flag, char *value)
{
	if (!value)
		return complain("no value after", flag);
	if (!strcmp(flag, "-o"))
		return set_words(o, value);
	if (!strcmp(flag, "--card"))
		o->card = value;
	else if (!strcmp(flag, "--run"))
		o->run = value;
	else if (!strcmp(flag, "--trace"))
		o->trace = value;
	else if (!strcmp(flag, "--vbios"))
		o->vbios = value;
	else if (!strcmp(flag, "--firmware"))
		o->firmware = value;
	else if (strcmp(flag, "-t") != 0)
		return complain("unknown option", flag);
	return 0;
}

static bool takes_value(const char *flag)
{
	return !strcmp(flag, "-o") || !strcmp(flag, "-t") || !strcmp(flag, "--card") ||
	       !strcmp(flag, "--run") || !strcmp(flag, "--trace") || !strcmp(flag, "--vbios") ||
	       !strcmp(flag, "--firmware");
}

static int check(struct options *o, const char *const *names, int n)
{
	if (o->help || o->version)
		return 0;
	/* as mount helper: the first name is the source, of no meaning here */
	if (n > 2)
		return complain("one name too many:", names[n - 1]);
	o->mountpoint = n ? names[n - 1] : NULL;
	if (o->run && o->mountpoint)
		return complain("--run has a mount point of its own, not", o->mountpoint);
	if (!o->run && !o->mountpoint)
		return complain("no", "MOUNTPOINT");
	return 0;
}

static int parse_all(struct options *o, int argc, char **argv)
{
	const char *names[3];
	int n = 0;

	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		int err;

		if (argv[i][0] != '-') {
			if (n < 3)
				names[n++] = argv[i];
			continue;
		}
		if (!strncmp(argv[i], "--", 2) && value) {
			*value = '\0';
			err = set_valued(o, argv[i], value + 1);
		} else if (takes_value(argv[i])) {
			err = set_valued(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
			i++;
		} else if (!strncmp(argv[i], "-o", 2)) {
			err = set_words(o, argv[i] + 2);
		} else {
			err = set_flag(o, argv[i]);
		}
		if (err)
			return err;
	}
	return check(o, names, n);
}

int options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){
	        .card = "auto", .uid = getuid(), .gid = getgid(), .umask = 0, .sample_ms = 1000};
	return parse_all(o, argc, argv);
}

void options_usage(void)
{
	printf("usage: rx580fs [--card CARD] [-f] [-o OPTION,...] MOUNTPOINT\n"
	       "       rx580fs [--card CARD] [-o ...] --run 'COMMAND'\n"
	       "       rx580fs probe [...]   examine an enclosure; see rx580fs probe --help\n"
	       "       rx580fs bringup [...] start the card without a mount, step by step\n"
	       "\n"
	       "  --card auto      the card behind a USB bridge if exactly one is plugged in, else "
	       "virtual\n"
	       "  --card usb[:VID:PID[@BUS-PORT]]\n"
	       "                   a real bridge through libusb\n"
	       "  --card sg:/dev/sgN\n"
	       "                   a real bridge through SG_IO\n"
	       "  --card usbip:HOST:PORT[/BUSID], usbip:unix:PATH\n"
	       "                   an enclosure behind a USB/IP server, as rx580-enclosure\n"
	       "  --card virtual   the enclosure and card played in software;\n"
	       "                   virtual,realtime sleeps for the modelled wire time\n"
	       "  --vbios FILE     this board's own VBIOS, when it cannot be read from the card\n"
	       "  --firmware DIR   amdgpu's microcode (default /lib/firmware/amdgpu)\n"
	       "  --no-dpm, -o dpm=off\n"
	       "                   no power management: 300/300 MHz\n"
	       "  --trace FILE     record every command to the bridge, without serial numbers\n"
	       "  --run 'COMMAND'  mount on a private folder named in $RX580, run, unmount,\n"
	       "                   exit with the command's status\n"
	       "  -f               stay in the foreground, log to stderr\n"
	       "  -v               log more\n"
	       "  -o ro            no writing\n"
	       "  -o allow_other   others may use the mount, as the modes allow\n"
	       "  -o uid=N,gid=N   owner of the files\n"
	       "  -o umask=N       permission bits taken away, octal\n"
	       "  -o sample_ms=N   interval of telemetry\n"
	       "  -o attach=no     reset a card that runs instead of taking it over\n"
	       "  -o keep          leave buffers, kernels, plans and the snapshot in VRAM for the "
	       "next mount\n"
	       "\n"
	       "hardware: unverified (no real card has been driven by this program yet)\n");
}
