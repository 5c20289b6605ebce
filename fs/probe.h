/* probe.h - the command line of `rx580fs probe`. */
#ifndef FS_PROBE_H
#define FS_PROBE_H

/* probe_main - @argv[0] is "probe". Return: exit status: 0 the enclosure is usable, 1 it is not or
 * could not be examined, 2 wrong command line. */
int probe_main(int argc, char **argv);

#endif
