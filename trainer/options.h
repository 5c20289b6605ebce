/* options.h - the command line of trainer. */
#ifndef TRAINER_OPTIONS_H
#define TRAINER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command { CMD_TRAIN, CMD_SAMPLE, CMD_PLAN };

struct options {
	enum command command;
	const char *gpu;
	/* train */
	const char *preset; /* NULL: tiny, or what the checkpoint says */
	char **data;        /* points into argv */
	size_t ndata;
	uint64_t steps, save_every, eval_every; /* 0: not given */
	const char *out, *log, *kernels;
	bool resume, keep;
	bool has_seed;
	uint64_t seed;
	unsigned batch; /* 0: not given */
	double lr;      /* 0: not given */
	/* sample */
	const char *checkpoint, *prompt;
	unsigned tokens, top_k;
	double temperature;
	/* plan */
	const char *plan;
	bool help, version;
};

/* options_parse - says on stderr what is wrong. Return: 0; -EINVAL. */
int options_parse(struct options *o, int argc, char **argv);
void options_usage(void);

/* Exit codes. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GONE = 3, /* the daemon or the card went away */
	EXIT_BUSY = 4, /* somebody else uses the mount */
	EXIT_STEP = 5, /* a step failed: loss not finite, card fault */
	EXIT_SIGNAL = 128
};

#endif
