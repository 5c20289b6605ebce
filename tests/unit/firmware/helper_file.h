/* helper_file.h - microcode files made for tests: field by field as polaris.md 4.2 has them. */
#ifndef HELPER_FILE_H
#define HELPER_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/firmware/firmware.h"

/* helper_file - a valid file of @kind with header version major.@minor, malloc'ed. The payload is
 * @payload bytes of a pattern at offset 256. */
uint8_t *helper_file(enum fw_kind kind, uint16_t minor, uint32_t payload, size_t *size);

#endif
