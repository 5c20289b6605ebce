/* main.c - rx580-enclosure: the virtual enclosure for anything that speaks USB/IP. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "device/virtual/server/server.h"

#define DEFAULT_LISTEN "127.0.0.1:3240" /* USBIP_PORT, this machine only */
#define MAX_THREADS    256u
#define MIN_VRAM_MIB   64u   /* below this the driver's own areas do not fit */
#define MAX_VRAM_MIB   8192u /* what an RX 580 has at most */

static const char usage[] =
        "usage: rx580-enclosure [OPTION]...\n"
        "Serve a virtual RX 580 in a virtual USB enclosure over USB/IP.\n\n"
        "  --listen HOST:PORT   TCP address (default " DEFAULT_LISTEN ")\n"
        "  --unix PATH          Unix socket, for this user only\n"
        "  --vhci               plug it into this kernel (root; module vhci-hcd)\n"
        "  --speed high|super   480 Mbit/s (default) or 5 Gbit/s\n"
        "  --bridge CHIP        rtl9210 (default), asm2362 or asm2464\n"
        "  --firmware M.N.P     of the rtl9210 (default 1.32.87)\n"
        "  --engine WORDS       what its TLP engine can do: functions+type1+64bit+burst+bytes, "
        "all\n"
        "  --realtime           take as long as the modelled link\n"
        "  --threads N          threads of the card's compute units\n"
        "  --vram MIB           64 to 8192\n"
        "  --card OPTION,...    cold (default), posted, vbios=FILE, ambient=C, "
        "fault=NAME[=VALUE][@SECONDS],\n"
        "                       spoil=[smc:]ADDRESS:FLIP\n"
        "  --log-level LEVEL    error, warn, info (default), debug, trace\n"
        "  --version, --help\n\n"
        "SIGTERM and SIGINT end it, SIGUSR1 unplugs the enclosure, SIGUSR2 plugs it in again.\n"
        "Clients: rx580fs --card usbip:HOST:PORT or usbip:unix:PATH; usbip attach -r HOST -b 1-1.\n"
        "USB/IP knows no passwords: whoever can connect can use the card.\n";

struct options {
	const char *tcp, *path;
	bool vhci;
	struct venc_options enclosure;
};

static struct server *server; /* for the signal handler */

static void on_signal(int signal)
{
	server_tell(server, signal == SIGUSR1   ? SERVER_UNPLUG
	                    : signal == SIGUSR2 ? SERVER_PLUG
	                                        : SERVER_STOP);
}

static void set_handler(void (*handler)(int))
{
	static const int caught[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
}

static int refuse(const char *option, const char *value)
{
	fprintf(stderr, "rx580-enclosure: %s \"%s\": see --help\n", option, value);
	return -EINVAL;
}

static int parse_number(
        const char *option, const char *text, unsigned long min, unsigned long max, unsigned *out)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(text, &end, 10);

	if (errno || end == text || *end || *text == '-' || n < min || n > max)
		return refuse(option, text);
	*out = (unsigned)n;
	return 0;
}

static int parse_speed(const char *text, struct venc_options *opt)
{
	opt->super_speed = !strcmp(text, "super");
	return opt->super_speed || !strcmp(text, "high") ? 0 : refuse("--speed", text);
}

static int parse_bridge(const char *text, struct venc_options *opt)
{
	return venc_parse_bridge(text, &opt->bridge) ? refuse("--bridge", text) : 0;
}

static int parse_engine(const char *text, struct venc_options *opt)
{
	return venc_parse_engine(text, &opt->engine) ? refuse("--engine", text) : 0;
}

/* The enclosure says whether it is a version. */
static int parse_firmware(const char *text, struct venc_options *opt)
{
	if (strlen(text) >= sizeof(opt->firmware))
		return refuse("--firmware", text);
	strcpy(opt->firmware, text);
	return 0;
}

static int parse_level(const char *text)
{
	int level = rx_log_parse_level(text);

	return level < 0 ? refuse("--log-level", text)
	                 : rx_log_set_level(NULL, (enum log_level)level);
}

static int parse_vram(const char *text, struct venc_options *opt)
{
	unsigned mib;
	int err = parse_number("--vram", text, MIN_VRAM_MIB, MAX_VRAM_MIB, &mib);

	if (!err)
		opt->vram_bytes = (uint64_t)mib << 20;
	return err;
}

static int parse_card(const char *text, struct venc_options *opt)
{
	RX_CLEANUP(free) char *copy = strdup(text);
	char *save = NULL;

	if (!copy)
		return -ENOMEM;
	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
		if (venc_card_option(&opt->card, w))
			return refuse("--card", w);
	return 0;
}

static int parse_option(int c, struct options *o)
{
	switch (c) {
	case 'l': o->tcp = optarg; return 0;
	case 'u': o->path = optarg; return 0;
	case 'k': o->vhci = true; return 0;
	case 's': return parse_speed(optarg, &o->enclosure);
	case 'b': return parse_bridge(optarg, &o->enclosure);
	case 'e': return parse_engine(optarg, &o->enclosure);
	case 'f': return parse_firmware(optarg, &o->enclosure);
	case 'r': o->enclosure.realtime = true; return 0;
	case 't': return parse_number("--threads", optarg, 1, MAX_THREADS, &o->enclosure.threads);
	case 'm': return parse_vram(optarg, &o->enclosure);
	case 'c': return parse_card(optarg, &o->enclosure);
	case 'd': return parse_level(optarg);
	case 'v': puts("rx580-enclosure " RX_VERSION " (a virtual card)"); exit(0);
	case 'h': fputs(usage, stdout); exit(0);
	default: return -EINVAL;
	}
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
	        {"listen", required_argument, NULL, 'l'},
	        {"unix", required_argument, NULL, 'u'},
	        {"vhci", no_argument, NULL, 'k'},
	        {"speed", required_argument, NULL, 's'},
	        {"bridge", required_argument, NULL, 'b'},
	        {"engine", required_argument, NULL, 'e'},
	        {"firmware", required_argument, NULL, 'f'},
	        {"realtime", no_argument, NULL, 'r'},
	        {"threads", required_argument, NULL, 't'},
	        {"vram", required_argument, NULL, 'm'},
	        {"card", required_argument, NULL, 'c'},
	        {"log-level", required_argument, NULL, 'd'},
	        {"version", no_argument, NULL, 'v'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		int err = parse_option(c, o);

		if (err)
			return err;
	}
	if (optind < argc)
		return refuse("argument", argv[optind]);
	if (!o->tcp && !o->path && !o->vhci)
		o->tcp = DEFAULT_LISTEN;
	return 0;
}

static int start(const struct options *o)
{
	int err = server_new(&server, &o->enclosure);

	if (err)
		return err;
	set_handler(on_signal);
	if (o->path)
		err = server_listen_unix(server, o->path);
	if (!err && o->tcp)
		err = server_listen_tcp(server, o->tcp);
	if (!err && o->vhci)
		err = server_attach_vhci(server);
	return err;
}

int main(int argc, char **argv)
{
	struct options o = {.enclosure.card.cold = true};

	if (parse(argc, argv, &o))
		return 2;
	int err = start(&o);

	if (!err)
		err = server_run(server);
	set_handler(SIG_IGN); /* they would write to what is being freed */
	server_free(server);
	return err == -EINVAL ? 2 : err ? 1 : 0;
}
