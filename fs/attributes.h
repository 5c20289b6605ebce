/* attributes.h - what a user may say about a buffer (user.rx580.dtype, user.rx580.shape), and the
 * same as bytes for the next owner of the card: NAME NUL VALUE NUL, one after the other.
 */
#ifndef FS_ATTRIBUTES_H
#define FS_ATTRIBUTES_H

#include <stddef.h>

#include "fs/text.h"

#define ATTRIBUTES      2
#define ATTRIBUTE_BYTES 128 /* of a value: interface.md 6 */

extern const char *const attribute_names[ATTRIBUTES];

struct attributes {
	char *value[ATTRIBUTES]; /* NULL: not set */
};

void attributes_free(struct attributes *a);
/* attributes_get - NULL: no such attribute, or not set. */
const char *attributes_get(const struct attributes *a, const char *name);
/* attributes_set - @value NULL: remove. Return: 0; -EOPNOTSUPP no such attribute; -EINVAL value;
 * -ENODATA nothing to remove; -ENOMEM. */
int attributes_set(struct attributes *a, const char *name, const char *value, size_t len);
void attributes_pack(const struct attributes *a, struct text *out);
/* attributes_unpack - set what @bytes say. Return: 0; -EBADMSG they are not of this form, @a is
 * empty; -ENOMEM. */
int attributes_unpack(struct attributes *a, const void *bytes, size_t len);

#endif
