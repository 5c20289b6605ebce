/* helper_policy.h - what a register read returns in the stored traces: policies A to E of
 * atombios.md 14.
 */
#ifndef HELPER_POLICY_H
#define HELPER_POLICY_H

#include <stddef.h>
#include <stdint.h>

struct policy;

/* policy_new - @image: the flash that policy E's ROM port shows. policy_reset() starts a fresh
 * card.
 */
struct policy *policy_new(const uint8_t *image, size_t size);
void policy_free(struct policy *p);
void policy_reset(struct policy *p, char letter, uint32_t seed);

uint32_t policy_read(struct policy *p, uint32_t reg);
void policy_write(struct policy *p, uint32_t reg, uint32_t value);

#endif
