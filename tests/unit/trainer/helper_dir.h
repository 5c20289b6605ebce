/* helper_dir.h - a temporary folder for a test, removed with all that is in it. */
#ifndef TESTS_TRAINER_HELPER_DIR_H
#define TESTS_TRAINER_HELPER_DIR_H

#include <stddef.h>

/* dir_new - path of a new folder; caller gives it to dir_remove(). */
char *dir_new(void);
void dir_remove(char *dir);
/* dir_write - DIR/NAME with these bytes; folders of the name are created. */
void dir_write(const char *dir, const char *name, const void *data, size_t len);
/* dir_text - the same with a string. */
void dir_text(const char *dir, const char *name, const char *text);
/* dir_path - DIR/NAME in a static buffer of four. */
const char *dir_path(const char *dir, const char *name);

#endif
