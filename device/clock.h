/* clock.h - monotonic time and deadlines. Every wait in the driver has one. Whoever polls asks for
 * the time before each look and gives up only when a look that began late saw nothing: a thread
 * that was not let run in between must not take that for silence.
 */
#ifndef RX_CLOCK_H
#define RX_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t deadline_in_ms(uint64_t ms)
{
	return now_ns() + ms * 1000000u;
}

static inline bool deadline_passed(uint64_t deadline_ns)
{
	return now_ns() >= deadline_ns;
}

static inline void sleep_us(uint64_t us)
{
	struct timespec ts = {(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000};

	nanosleep(&ts, NULL);
}

#endif
