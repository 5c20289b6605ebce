/* options.c - see options.h. */
#include "trainer/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char default_data[] = "/usr/share/common-licenses";
static char *default_paths[] = {default_data};

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "trainer: %s %s; try trainer --help\n", what, text);
	return -EINVAL;
}

static int whole(const char *flag, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || *out < min || *out > max)
		return complain("not a sensible number:", flag);
	return 0;
}

static int real(const char *flag, const char *text, double max, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(*out) || *out < 0 || *out > max)
		return complain("not a sensible number:", flag);
	return 0;
}

/* Options whose value is text. */
static const char **text_option(struct options *o, const char *flag)
{
	const struct {
		const char *flag;
		const char **where;
	} table[] = {{"--gpu", &o->gpu}, {"--preset", &o->preset}, {"--out", &o->out},
	        {"--log", &o->log}, {"--kernels", &o->kernels}, {"--checkpoint", &o->checkpoint},
	        {"--prompt", &o->prompt}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(flag, table[i].flag))
			return table[i].where;
	return NULL;
}

/* Return: 1 taken; 0 no such option; -EINVAL. */
static int number_option(struct options *o, const char *flag, const char *text)
{
	uint64_t n = 0;
	int err;

	if (!strcmp(flag, "--steps"))
		err = whole(flag, text, 1, UINT32_MAX, &o->steps);
	else if (!strcmp(flag, "--save-every"))
		err = whole(flag, text, 1, UINT32_MAX, &o->save_every);
	else if (!strcmp(flag, "--eval-every"))
		err = whole(flag, text, 1, UINT32_MAX, &o->eval_every);
	else if (!strcmp(flag, "--seed")) {
		err = whole(flag, text, 0, UINT64_MAX, &o->seed);
		o->has_seed = true;
	} else if (!strcmp(flag, "--batch")) {
		err = whole(flag, text, 1, 1024, &n);
		o->batch = (unsigned)n;
	} else if (!strcmp(flag, "--tokens")) {
		err = whole(flag, text, 1, 1000000, &n);
		o->tokens = (unsigned)n;
	} else if (!strcmp(flag, "--top-k")) {
		err = whole(flag, text, 0, 65535, &n);
		o->top_k = (unsigned)n;
	} else if (!strcmp(flag, "--lr"))
		err = real(flag, text, 10, &o->lr);
	else if (!strcmp(flag, "--temperature"))
		err = real(flag, text, 100, &o->temperature);
	else
		return 0;
	return err ? err : 1;
}

static bool flag_option(struct options *o, const char *flag)
{
	const struct {
		const char *flag;
		bool *where;
	} table[] = {{"--resume", &o->resume}, {"--keep", &o->keep}, {"--help", &o->help},
	        {"-h", &o->help}, {"--version", &o->version}, {"-V", &o->version}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(flag, table[i].flag)) {
			*table[i].where = true;
			return true;
		}
	return false;
}

/* One option from argv[i]. Return: words used; -EINVAL. */
static int take(struct options *o, int argc, char **argv, int i)
{
	int used = 2;

	if (flag_option(o, argv[i]))
		return 1;
	if (argv[i][0] != '-')
		return complain("what is", argv[i]);
	if (i + 1 >= argc)
		return complain("unknown option, or no value after", argv[i]);
	if (!strcmp(argv[i], "--data")) {
		o->data = &argv[i + 1];
		while (i + used < argc && argv[i + used][0] != '-')
			used++;
		o->ndata = (size_t)used - 1;
		return used;
	}
	const char **text = text_option(o, argv[i]);
	if (text) {
		*text = argv[i + 1];
		return 2;
	}
	int err = number_option(o, argv[i], argv[i + 1]);
	return err == 0 ? complain("unknown option", argv[i]) : (err < 0 ? err : 2);
}

static bool is_plan(const char *name)
{
	static const char *const plans[] = {"init", "train", "eval", "sample"};

	for (size_t i = 0; name && i < sizeof(plans) / sizeof(plans[0]); i++)
		if (!strcmp(name, plans[i]))
			return true;
	return false;
}

static int check(const struct options *o)
{
	if (o->help || o->version)
		return 0;
	if (o->command == CMD_PLAN)
		return is_plan(o->plan) ? 0
		                        : complain("which plan?", "init, train, eval or sample");
	if (!o->gpu)
		return complain("no", "--gpu DIR, the folder where rx580fs is mounted");
	if (o->command == CMD_SAMPLE && !o->checkpoint)
		return complain("no", "--checkpoint DIR");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int i = 1;

	*o = (struct options){.data = default_paths,
	        .ndata = 1,
	        .out = "checkpoints",
	        .prompt = "",
	        .tokens = 100,
	        .temperature = 0.8,
	        .top_k = 40};
	if (argc > 1 && !strcmp(argv[1], "sample")) {
		o->command = CMD_SAMPLE;
		i = 2;
	} else if (argc > 1 && !strcmp(argv[1], "plan")) {
		o->command = CMD_PLAN;
		o->plan = argc > 2 && argv[2][0] != '-' ? argv[2] : NULL;
		i = o->plan ? 3 : 2;
	}
	while (i < argc) {
		int used = take(o, argc, argv, i);
		if (used < 0)
			return used;
		i += used;
	}
	return check(o);
}

void options_usage(void)
{
	printf("usage: trainer --gpu DIR [OPTION...]         train a GPT-2-shaped model through "
	       "the "
	       "mount\n"
	       "       trainer sample --gpu DIR --checkpoint DIR [--prompt TEXT] [OPTION...]\n"
	       "       trainer plan init|train|eval|sample [--preset P] [--batch N] [--seed N]\n"
	       "                                             print a plan as it is loaded\n"
	       "\n"
	       "  --gpu DIR        where rx580fs is mounted\n"
	       "  --preset P       tiny (default) or reference (11,637,760 parameters)\n"
	       "  --data PATH...   files or folders of UTF-8 text; symbolic links are not "
	       "followed,\n"
	       "                   equal files count once (default %s)\n"
	       "  --steps N        updates in all, of a resumed run too (tiny 1000, reference "
	       "2000)\n"
	       "  --batch N        rows of an update\n"
	       "  --lr X           highest learning rate (tiny 2.5e-3, reference 6e-4)\n"
	       "  --seed N         of the weights and of the order of the data (default 1)\n"
	       "  --out DIR        checkpoints: step-NNNNNNNN/model.safetensors and more (default\n"
	       "                   ./checkpoints)\n"
	       "  --resume         go on from the newest checkpoint in --out, bit by bit\n"
	       "  --save-every N   steps between checkpoints (a quarter of the run)\n"
	       "  --eval-every N   steps between losses of the held-out text (a quarter of the "
	       "run)\n"
	       "  --log FILE       JSON lines (default OUT/log.jsonl)\n"
	       "  --kernels DIR    code objects (default $RX580FS_KERNELS, else the installed "
	       "ones)\n"
	       "  --keep           leave plans and buffers on the card\n"
	       "sampling:\n"
	       "  --checkpoint DIR a checkpoint, or a folder of them (the newest is taken)\n"
	       "  --prompt TEXT    what to go on from\n"
	       "  --tokens N       how many (100)\n"
	       "  --temperature X  0 takes the most likely (0.8)\n"
	       "  --top-k K        among the K most likely, 0: all (40)\n"
	       "\n"
	       "SIGINT and SIGTERM stop at a step boundary and write a checkpoint.\n"
	       "exit status: 0 done; 1 failed; 2 usage; 3 daemon or card gone; 4 mount in use;\n"
	       "5 a step failed (loss not finite: weights untouched; card fault: load a "
	       "checkpoint); 128+N signal N\n"
	       "hardware: unverified (no real card has been driven by this program yet)\n",
	        default_data);
}
