/* probe.c - `rx580fs probe`: options, one line a step on stdout, report and trace in files. */
#include "fs/probe.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/err.h"
#include "device/probe/probe.h"

struct probe_words {
	struct probe_options opt;
	const char *report;
	char *trace; /* owned: made from the report's name */
	bool help;
	sigset_t signals; /* that end it at the next step */
};

static void usage(void)
{
	printf("usage: rx580fs probe [--card CARD] [--write-level 0|1|2] [-o REPORT] [--trace "
	       "FILE] "
	       "[-v]\n"
	       "\n"
	       "Examine an enclosure step by step and stop at the first surprise.\n"
	       "\n"
	       "  --write-level 0  only commands that read (default); one of them lifts the "
	       "bridge's\n"
	       "                   lock on write commands, which changes nothing by itself\n"
	       "  --write-level 1  also write the command register of the card's configuration "
	       "space\n"
	       "                   with the value just read; ASMedia: find the card, which uses "
	       "the\n"
	       "                   bridge's TLP engine, bus numbers and windows\n"
	       "  --write-level 2  also write a scratch register, the bridge's buffer memory and "
	       "TLP "
	       "engine,\n"
	       "                   1500 bytes of a running card's memory and BARs, each restored\n"
	       "  -o REPORT        the report as JSON; the trace goes to REPORT.trace\n"
	       "  --trace FILE     every command and answer, without serial numbers;\n"
	       "                   --card replay:FILE plays it\n"
	       "\n"
	       "Exit status: 0 usable, 1 not usable or not examined, 2 wrong command line.\n"
	       "hardware: unverified (no real card has been driven by this program yet)\n");
}

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "rx580fs probe: %s \"%s\"; try rx580fs probe --help\n", what, text);
	return -EINVAL;
}

static int set(struct probe_words *w, int option, char *value)
{
	switch (option) {
	case 'c': w->opt.card = value; return 0;
	case 'o': w->report = value; return 0;
	case 't': w->opt.trace = value; return 0;
	case 'v': rx_log_set_level(NULL, LOG_DEBUG); return 0;
	case 'h': w->help = true; return 0;
	case 'w':
		if (strlen(value) != 1 || *value < '0' || *value > '2')
			return complain("the write level is 0, 1 or 2, not", value);
		w->opt.write_level = (unsigned)(*value - '0');
		return 0;
	default: return -EINVAL; /* getopt has said it */
	}
}

static int parse(struct probe_words *w, int argc, char **argv)
{
	static const struct option longs[] = {{"card", required_argument, NULL, 'c'},
	        {"write-level", required_argument, NULL, 'w'},
	        {"trace", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "o:vh", longs, NULL)) != -1) {
		int err = set(w, option, optarg);

		if (err)
			return err;
	}
	if (optind < argc)
		return complain("no word is expected here:", argv[optind]);
	if (w->report && w->opt.trace && !strcmp(w->report, w->opt.trace))
		return complain("report and trace want a file each, not both", w->report);
	if (w->report && !w->opt.trace) {
		if (asprintf(&w->trace, "%s.trace", w->report) < 0)
			return -ENOMEM;
		w->opt.trace = w->trace;
	}
	return 0;
}

static void print_step(void *ctx, const struct probe_step *s)
{
	(void)ctx;
	printf("%-2s %-44s [%s] %8u us  %s%s\n", s->number, s->title, s->evidence, s->us,
	        s->verdict == PROBE_SURPRISE ? "SURPRISE" : probe_verdict_name(s->verdict),
	        s->writes ? ", has written" : "");
	if (s->value[0])
		printf("      %s\n", s->value);
	if (s->words[0])
		printf("      %s\n", s->words);
	fflush(stdout); /* a hang must not hide what came before it */
}

static void print_abilities(const struct probe_report *r)
{
	printf("abilities: alias write %s, bridge SRAM %s, the card's DMA into it %s, function 1 "
	       "%s, "
	       "above 4 GiB %s, engine bursts ",
	        probe_ability_name(r->alias_write), probe_ability_name(r->sram),
	        probe_ability_name(r->dma_in), probe_ability_name(r->function_1),
	        probe_ability_name(r->wide));
	if (r->engine_burst)
		printf("of %u dwords, ", r->engine_burst);
	else
		printf("%s, ", r->byte_stores == PROBE_UNKNOWN ? "unknown" : "no");
	if (r->max_transfer)
		printf("%u bytes a command\n", r->max_transfer);
	else
		printf("bytes a command unknown\n");
}

/* hold_signals - a probe that dies in the middle of a step leaves behind what the step had changed.
 * Held back, not handled: a handler would also interrupt SG_IO, whose command then runs unseen. */
static void hold_signals(struct probe_words *w)
{
	sigemptyset(&w->signals);
	sigaddset(&w->signals, SIGINT);
	sigaddset(&w->signals, SIGTERM);
	sigaddset(&w->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &w->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool told_to_stop(void *ctx)
{
	struct probe_words *w = ctx;

	return sigtimedwait(&w->signals, NULL, &(struct timespec){0}) > 0;
}

static int examine(struct probe_words *w)
{
	struct probe_report *r = calloc(1, sizeof(*r));

	if (!r)
		return 1;
	hold_signals(w);
	w->opt.stop = told_to_stop;
	w->opt.ctx = w;
	int err = probe_run(&w->opt, r);

	if (!err) {
		print_abilities(r);
		printf("%s: %s\n", r->usable ? "USABLE" : "NOT USABLE", r->verdict);
		if (!strcmp(r->carrier, "virtual"))
			printf("This was the enclosure played in software; no real one was "
			       "examined.\n");
		if (w->report)
			err = probe_report_write(r, w->report);
	}
	int status = err || !r->usable;

	free(r);
	return status;
}

int probe_main(int argc, char **argv)
{
	struct probe_words w = {.opt = {.card = "auto", .on_step = print_step}};
	int status = parse(&w, argc, argv) ? 2 : 0;

	if (w.help)
		usage();
	else if (!status)
		status = examine(&w);
	free(w.trace);
	return status;
}
