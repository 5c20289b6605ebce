/* stop.c - see stop.h. */
#include "trainer/stop.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t wanted;

static void note(int sig)
{
	wanted = sig;
}

void stop_install(void)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_handler = note;
	a.sa_flags = (int)
	        SA_RESETHAND; /* the second signal ends us; no SA_RESTART: poll is to wake up */
	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int stop_wanted(void)
{
	return wanted;
}
