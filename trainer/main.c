/* main.c - trainer: train a GPT-2-shaped model through the files of an rx580fs mount. */
#include <stdio.h>
#include <stdlib.h>

#include "trainer/options.h"
#include "trainer/plan_gen.h"
#include "trainer/run_config.h"
#include "trainer/sample.h"
#include "trainer/train.h"

static char *plan_text(const struct options *o, const struct model *m, struct run_config *c)
{
	switch (o->plan[0]) {
	case 'i': return plan_init(m, "trainer", o->has_seed ? o->seed : c->seed);
	case 't': return plan_train(m, "trainer", &c->train);
	case 'e': return plan_eval(m, "trainer", c->train.deadline_s);
	default: return plan_sample(m, "trainer", c->train.deadline_s);
	}
}

/* Print one plan: for a look, and for driving the mount by hand. */
static int print_plan(const struct options *o)
{
	struct run_config c = {0};
	struct model *m;
	char why[256];

	if (train_defaults(&c, o->preset ? o->preset : "tiny")) {
		fprintf(stderr, "trainer: no such preset; there are tiny and reference\n");
		return EXIT_USAGE;
	}
	c.model.B = o->batch ? o->batch : c.model.B;
	if (model_check(&c.model, why, sizeof(why)) || model_new(&m, &c.model)) {
		fprintf(stderr, "trainer: no such model\n");
		return EXIT_USAGE;
	}
	char *text = plan_text(o, m, &c);
	if (text)
		puts(text);
	free(text);
	model_free(m);
	return text ? EXIT_OK : EXIT_FAILED;
}

/* What was printed is the result here: a full disk must not look like success. */
static int printed(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "trainer: cannot write to standard output\n");
	return code == EXIT_OK ? EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
	struct options o;

	if (options_parse(&o, argc, argv))
		return EXIT_USAGE;
	if (o.help) {
		options_usage();
		return printed(EXIT_OK);
	}
	if (o.version) {
		printf("trainer %s\n", RX_VERSION);
		return printed(EXIT_OK);
	}
	switch (o.command) {
	case CMD_SAMPLE: return printed(sample(&o));
	case CMD_PLAN: return printed(print_plan(&o));
	case CMD_TRAIN: break;
	}
	return train(&o);
}
