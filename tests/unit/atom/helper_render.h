/* helper_render.h - the decoded tables of a VBIOS as JSON, in the form of the expected/NAME.json
 * files: numbers, and "0x..." text where a field is bits or an address.
 */
#ifndef HELPER_RENDER_H
#define HELPER_RENDER_H

#include <jansson.h>

#include "device/vbios/rom.h"

/* render_vbios - decode everything. A table that is absent or refused is JSON null. */
json_t *render_vbios(const struct vbios_rom *rom);

#endif
