/* bringup.h - the command line of `rx580fs bringup`. */
#ifndef FS_BRINGUP_H
#define FS_BRINGUP_H

/* bringup_main - bring a card up, say what each step took, shut it down. @argv[0] is "bringup".
 * Return: exit status: 0 the card came up, 1 it did not, 2 wrong command line. */
int bringup_main(int argc, char **argv);

#endif
