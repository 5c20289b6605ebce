/* tmpdir.h - private folders under $TMPDIR that nobody has to clean up by hand: each is locked
 * (flock(2)) by the process that made it, the kernel lets go of the lock however that process ends,
 * and the next process to call rx_tmpdir_sweep() removes what no one holds any more.
 * Folders are mode 0700 and hold plain files and empty folders only; nothing is removed
 * recursively, so a mount in one is safe until it has been taken away.
 */
#ifndef RX_TMPDIR_H
#define RX_TMPDIR_H

#define RX_TMPDIR_MAX 3072 /* bytes of a path, terminator included */

struct rx_tmpdir {
	char path[RX_TMPDIR_MAX]; /* "$TMPDIR/rx580fs-KIND-XXXXXX" */
	int fd;                   /* holds the lock; closed on exec */
};

/* rx_tmpdir_make - @kind: one word, "run" or "cc". Return: 0, and rx_tmpdir_remove() is due;
 * -errno, said. */
int rx_tmpdir_make(struct rx_tmpdir *d, const char *kind);
/* rx_tmpdir_remove - with its files and empty folders; what cannot go stays for a later sweep. */
void rx_tmpdir_remove(struct rx_tmpdir *d);

/* rx_tmpdir_sweep - remove this user's folders of @kind that nobody holds. @before (may be NULL) is
 * called with the path of each first, to take away what was mounted there. Return: how many went.
 */
unsigned rx_tmpdir_sweep(const char *kind, void (*before)(const char *path));

#endif
