/* bringup.c - `rx580fs bringup`: the checklist of a start without a mount. */
#include "fs/bringup.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "device/err.h"
#include "device/rx580.h"

struct totals {
	bool verbose;
	unsigned steps;
	uint64_t host_ns, model_ns, commands;
};

static void usage(void)
{
	printf("usage: rx580fs bringup [--card CARD] [--vbios FILE] [--firmware DIR] [--trace "
	       "FILE]\n"
	       "                       [--no-dpm] [-v]\n"
	       "\n"
	       "Bring the card up to running queues, then leave it idle. -v prints every step "
	       "with\n"
	       "its source, the time it took here, its commands to the bridge, and the seconds "
	       "the\n"
	       "same traffic takes on the modelled link (virtual card only).\n"
	       "--no-dpm leaves the card at its boot clocks, 300/300 MHz.\n"
	       "\n"
	       "Exit status: 0 the card came up, 1 it did not, 2 wrong command line.\n"
	       "hardware: unverified (no real card has been driven by this program yet)\n");
}

static void print_line(
        const char *what, uint64_t host_ns, uint64_t commands, uint64_t model_ns, const char *tail)
{
	printf("%-44s %9.3f s %9llu %9.3f s  %s\n", what, (double)host_ns / 1e9,
	        (unsigned long long)commands, (double)model_ns / 1e9, tail);
	fflush(stdout); /* a hang must not hide what came before it */
}

static void on_step(void *ctx, const struct rx_step *step)
{
	struct totals *t = ctx;

	t->steps++;
	t->host_ns += step->host_ns;
	t->model_ns += step->model_ns;
	t->commands += step->commands;
	if (t->verbose)
		print_line(step->name, step->host_ns, step->commands, step->model_ns,
		        step->err ? strerror(-step->err) : step->source);
}

static int bring_up(struct rx_options *opt, struct totals *t)
{
	struct rx580 *rx;

	if (t->verbose)
		printf("%-44s %11s %9s %11s  %s\n", "step", "host", "commands", "link", "source");
	int err = rx_open(&rx, opt);

	print_line(err ? "NOT UP" : "up", t->host_ns, t->commands, t->model_ns,
	        err ? strerror(-err) : "");
	if (!err) {
		rx_keep_freeze(rx); /* what was found is not ours */
		rx_close(rx);
	}
	return err ? 1 : 0;
}

int bringup_main(int argc, char **argv)
{
	static const struct option longs[] = {{"card", required_argument, NULL, 'c'},
	        {"trace", required_argument, NULL, 't'}, {"vbios", required_argument, NULL, 'b'},
	        {"firmware", required_argument, NULL, 'w'}, {"no-dpm", no_argument, NULL, 'd'},
	        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct totals t = {0};
	struct rx_options opt = {.card = "auto", .on_step = on_step, .on_step_ctx = &t};
	int option;

	while ((option = getopt_long(argc, argv, "vh", longs, NULL)) != -1)
		switch (option) {
		case 'c': opt.card = optarg; break;
		case 't': opt.trace = optarg; break;
		case 'b': opt.vbios = optarg; break;
		case 'w': opt.firmware = optarg; break;
		case 'd': opt.no_dpm = true; break;
		case 'v': t.verbose = true; break;
		case 'h': usage(); return 0;
		default: return 2; /* getopt has said it */
		}
	if (optind < argc) {
		fprintf(stderr, "rx580fs bringup: no word is expected here: \"%s\"\n",
		        argv[optind]);
		return 2;
	}
	return bring_up(&opt, &t);
}
