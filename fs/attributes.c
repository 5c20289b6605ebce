/* attributes.c - see attributes.h. */
#include "fs/attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const attribute_names[ATTRIBUTES] = {"user.rx580.dtype", "user.rx580.shape"};

void attributes_free(struct attributes *a)
{
	for (size_t i = 0; i < ATTRIBUTES; i++)
		free(a->value[i]);
	*a = (struct attributes){0};
}

/* index_of - ATTRIBUTES: there is none. */
static size_t index_of(const char *name)
{
	size_t i = 0;

	while (i < ATTRIBUTES && strcmp(name, attribute_names[i]) != 0)
		i++;
	return i;
}

const char *attributes_get(const struct attributes *a, const char *name)
{
	size_t i = index_of(name);

	return i < ATTRIBUTES ? a->value[i] : NULL;
}

int attributes_set(struct attributes *a, const char *name, const char *value, size_t len)
{
	size_t i = index_of(name);

	if (i == ATTRIBUTES)
		return -EOPNOTSUPP;
	if (len > ATTRIBUTE_BYTES || (value && memchr(value, '\0', len)))
		return -EINVAL;
	if (!value && !a->value[i])
		return -ENODATA;
	char *copy = value ? strndup(value, len) : NULL;

	if (value && !copy)
		return -ENOMEM;
	free(a->value[i]);
	a->value[i] = copy;
	return 0;
}

void attributes_pack(const struct attributes *a, struct text *out)
{
	for (size_t i = 0; i < ATTRIBUTES; i++) {
		if (!a->value[i])
			continue;
		text_append(out, attribute_names[i], strlen(attribute_names[i]) + 1);
		text_append(out, a->value[i], strlen(a->value[i]) + 1);
	}
}

int attributes_unpack(struct attributes *a, const void *bytes, size_t len)
{
	const char *at = bytes, *end = at + len;
	int err = 0;

	while (at < end && !err) {
		const char *name_end = memchr(at, '\0', (size_t)(end - at));
		const char *value = name_end ? name_end + 1 : end;
		const char *value_end =
		        value < end ? memchr(value, '\0', (size_t)(end - value)) : NULL;

		err = value_end ? attributes_set(a, at, value, (size_t)(value_end - value))
		                : -EBADMSG;
		at = value_end ? value_end + 1 : end;
	}
	if (!err)
		return 0;
	attributes_free(a);
	return err == -ENOMEM ? err : -EBADMSG;
}
