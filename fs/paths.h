/* paths.h - paths that outlive the folder they were given in: the daemon goes to the background,
 * leaves its current folder, and opens them again when the card is reset.
 */
#ifndef FS_PATHS_H
#define FS_PATHS_H

#include "fs/options.h"

/* paths_make_absolute - of VBIOS, microcode, and those inside of @o->card, unless @o says that the
 * daemon stays where it is; in any case of TMPDIR. What is changed is allocated, for the life of
 * the program. Return: 0; -ENOMEM; no current folder (logged).
 */
int paths_make_absolute(struct options *o);

#endif
