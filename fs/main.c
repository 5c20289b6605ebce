/* main.c - rx580fs: options -> background -> card -> mount -> loop -> undo. */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "device/bytes.h"
#include "device/clock.h"
#include "device/compile/compile.h"
#include "device/err.h"
#include "fs/bringup.h"
#include "fs/fs.h"
#include "fs/journal.h"
#include "fs/mountpoint.h"
#include "fs/nodes.h"
#include "fs/options.h"
#include "fs/park.h"
#include "fs/paths.h"
#include "fs/probe.h"
#include "fs/session.h"
#include "fs/threads.h"

extern char **environ;

/* Time-outs of requests are looked at this often. */
#define REAP_MS 250u

struct daemon {
	struct fs fs;
	struct options opt;
	struct threads *threads;
	struct rx_tmpdir private; /* --run */
	char *mountpoint;         /* absolute, as we leave the current folder */
	int signals;
	pid_t child; /* --run */
	int status;  /* exit status */
	struct journal journal;
};

/* SIGUSR1 ends the session thread's read and must reach it; the rest goes to the main thread. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_command(struct daemon *d)
{
	char *argv[] = {"sh", "-c", (char *)d->opt.run, NULL};
	posix_spawnattr_t attr;
	sigset_t none, defaults;

	setenv("RX580", d->mountpoint, 1);
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int err = posix_spawnp(&d->child, "sh", NULL, &attr, argv, environ);

	posix_spawnattr_destroy(&attr);
	if (err) {
		d->child = 0;
		return rx_fail("fs", -err, "cannot run sh: %s", strerror(err));
	}
	return 0;
}

/* Return: true when the command of --run has ended. */
static bool child_ended(struct daemon *d)
{
	int status;

	if (!d->child || waitpid(d->child, &status, WNOHANG) != d->child)
		return false;
	d->child = 0;
	d->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

/* Return: true when it is time to go. */
static bool handle_signals(struct daemon *d)
{
	struct signalfd_siginfo si;
	bool stop = false;

	while (read(d->signals, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			stop |= child_ended(d);
		} else if (si.ssi_signo != SIGHUP) {
			rx_log(LOG_INFO, "fs", "%s: unmounting", strsignal((int)si.ssi_signo));
			if (d->child)
				d->status = 128 + (int)si.ssi_signo;
			stop = true;
		}
	}
	return stop;
}

static void serve(struct daemon *d)
{
	struct pollfd fds[] = {{.fd = d->signals, .events = POLLIN},
	        {.fd = park_fd(d->fs.park), .events = POLLIN}};

	for (;;) {
		poll(fds, 2, (int)MIN(sensors_tick(&d->fs), REAP_MS));
		if (handle_signals(d) || threads_session_ended(d->threads))
			return;
		park_drain(d->fs.park);
		park_reap(d->fs.park, false);
		park_poll_wake(d->fs.park);
		journal_feed(&d->journal, &d->fs.log);
	}
}

static void end_child(struct daemon *d)
{
	uint64_t until = deadline_in_ms(FS_TOTAL_MS);

	if (!d->child)
		return;
	int status = d->status;

	kill(d->child, SIGTERM);
	while (d->child && !child_ended(d)) {
		if (deadline_passed(until))
			kill(d->child, SIGKILL);
		sleep_us(10000);
	}
	if (status)
		d->status = status;
}

static void say_what(struct fs *fs)
{
	struct rx_info info;

	fs_lock(fs);
	fs_read_info(fs, &info);
	fs_unlock(fs);
	rx_log(LOG_INFO, "fs", "%s card %04x:%04x, %llu MiB, hardware: %s", info.backend,
	        info.pci_vendor, info.pci_device, (unsigned long long)(info.vram_total >> 20),
	        info.hardware_verified ? "verified" : "unverified");
}

/* Return: 0 when mounted and served until the end. */
static int mount_and_serve(struct daemon *d, int verdict)
{
	int err = session_mount(&d->fs, d->mountpoint);

	if (err)
		return err;
	err = threads_start_rest(d->threads);
	if (!err) {
		say_what(&d->fs);
		if (verdict >= 0) {
			journal_open(&d->journal);
			background_verdict(verdict, true);
		}
		notify_supervisor("READY=1");
		err = d->opt.run ? run_command(d) : 0;
	}
	if (!err)
		serve(d);
	end_child(d);
	notify_supervisor("STOPPING=1");
	return err;
}

static int run(struct daemon *d, int verdict)
{
	int err = fs_init(&d->fs, &d->opt);

	if (err)
		return err;
	err = threads_start_owner(&d->threads, &d->fs);
	if (err) {
		fs_fini(&d->fs);
		return err;
	}
	err = mount_and_serve(d, verdict);
	bool all = threads_stop(d->threads);

	if (d->fs.se)
		session_unmount(&d->fs);
	journal_feed(&d->journal, &d->fs.log);
	if (!all)
		return err; /* a compiler thread still refers to fs; the process ends now */
	session_free(&d->fs);
	fs_fini(&d->fs);
	return err;
}

static int prepare(struct daemon *d)
{
	mountpoint_sweep();
	compile_sweep();
	if (d->opt.run)
		return mountpoint_private(&d->private, &d->mountpoint);
	int err = mountpoint_prepare(d->opt.mountpoint);

	d->mountpoint = err ? NULL : realpath(d->opt.mountpoint, NULL);
	return d->mountpoint || err ? err : -errno;
}

int main(int argc, char **argv)
{
	static struct daemon d;
	int verdict = -1;

	if (argc > 1 && !strcmp(argv[1], "probe"))
		return probe_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "bringup"))
		return bringup_main(argc - 1, argv + 1);
	if (options_parse(&d.opt, argc, argv) != 0)
		return 2;
	if (d.opt.help || d.opt.version) {
		if (d.opt.help)
			options_usage();
		else
			printf("rx580fs %s, hardware: unverified\n", RX_VERSION);
		return 0;
	}
	if (d.opt.verbose)
		rx_log_set_level(NULL, LOG_DEBUG);
	if (paths_make_absolute(&d.opt) != 0 || prepare(&d) != 0)
		return 1;
	if (!d.opt.foreground && !d.opt.run) {
		verdict = background_start();
		if (verdict < 0)
			return 1;
	}
	d.signals = block_signals();
	int err = run(&d, verdict);

	if (d.opt.run)
		rx_tmpdir_remove(&d.private);
	free(d.mountpoint);
	return err ? 1 : d.status;
}
