/* helper_fake_keep.c - warm attach of the fake card: it is fresh, and nobody comes after us. */
#include <errno.h>

#include "device/rx580.h"

int rx_buffer_keep(struct rx580 *rx, struct rx_buffer *b, const struct rx_owner *owner,
        const void *note, size_t bytes)
{
	(void)rx, (void)b, (void)owner, (void)note, (void)bytes;
	return 0;
}

void rx_buffer_unkeep(struct rx580 *rx, struct rx_buffer *b)
{
	(void)rx, (void)b;
}

int rx_keep(struct rx580 *rx, const struct rx_kept *what, const void *note, size_t bytes)
{
	(void)rx, (void)what, (void)note, (void)bytes;
	return 0;
}

int rx_keep_again(struct rx580 *rx, const struct rx_kept *what)
{
	(void)rx, (void)what;
	return 0;
}

int rx_keep_begin(struct rx580 *rx, struct rx_keeping *k, const char *name, size_t bytes)
{
	(void)rx, (void)name;
	*k = (struct rx_keeping){.bytes = bytes};
	return 0;
}

int rx_keep_more(struct rx580 *rx, struct rx_keeping *k, const void *piece, size_t bytes)
{
	(void)rx, (void)piece;
	k->done += bytes;
	return 0;
}

int rx_keep_end(struct rx580 *rx, struct rx_keeping *k, const struct rx_kept *what)
{
	(void)rx, (void)k, (void)what;
	return 0;
}

void rx_keep_cancel(struct rx580 *rx, struct rx_keeping *k)
{
	(void)rx, (void)k;
}

void rx_forget(struct rx580 *rx, char kind, const char *name)
{
	(void)rx, (void)kind, (void)name;
}

int rx_keep_owner(struct rx580 *rx, char kind, const char *name, const struct rx_owner *owner)
{
	(void)rx, (void)kind, (void)name, (void)owner;
	return 0;
}

const struct rx_kept *rx_kept_find(struct rx580 *rx, char kind, const char *name)
{
	(void)rx, (void)kind, (void)name;
	return NULL;
}

const struct rx_kept *rx_kept_next(struct rx580 *rx, char kind, const struct rx_kept *after)
{
	(void)rx, (void)kind, (void)after;
	return NULL;
}

int rx_kept_note(struct rx580 *rx, const struct rx_kept *k, void **bytes)
{
	(void)rx, (void)k, (void)bytes;
	return -ENODATA;
}

void rx_keep_freeze(struct rx580 *rx)
{
	(void)rx;
}
