/* mailbox.c - messages to the SMU, polaris.md 10.1. */
#include "device/bytes.h"
#include "device/clock.h"
#include "device/err.h"
#include "device/regs/regs.h"
#include "device/smu/smu_priv.h"

/* SMC_RESP_0: polaris.md 10.1 */
#define RESP_MASK    0xFFFFu
#define RESP_OK      0x01u
#define RESP_UNKNOWN 0xFEu

static const char *message_name(enum ppsmc_msg id)
{
	static const struct {
		enum ppsmc_msg id;
		const char *name;
	} names[] = {
#define X(name, id) {id, #name},
	        PPSMC_MESSAGES(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].id == id)
			return names[i].name;
	return "unnamed";
}

/* wait_answer - until RESP is not 0. */
static int wait_answer(struct smu *s, uint32_t *resp)
{
	uint64_t deadline = deadline_in_ms(SMU_TIMEOUT_MS);

	s->silent = false;
	for (uint64_t pause_us = 20;; pause_us = pause_us < 1000 ? pause_us * 2 : 1000) {
		bool late = deadline_passed(deadline);
		int err = reg_read(s->mmio, REG_SMC_RESP_0, resp);

		*resp &= RESP_MASK;
		if (err || *resp)
			return err;
		s->silent = late;
		if (late)
			return -ETIMEDOUT;
		sleep_us(pause_us);
	}
}

/* make_free - a message nobody waited for may be under way. The register resets to 1
 * (amdgpu-oracle.md 7 item 9). After our own answered message there is nothing to ask. */
static int make_free(struct smu *s)
{
	uint32_t resp;
	int err = s->answered ? 0 : wait_answer(s, &resp);

	if (err == -ETIMEDOUT)
		return rx_fail("smu", err,
		        "SMC_RESP_0 stays 0 for %d ms before any message: the SMU hangs; "
		        "power-cycle the card",
		        SMU_TIMEOUT_MS);
	return err;
}

/* Changes nothing and takes no argument: polaris.md 10.2 */
#define HARMLESS PPSMC_MSG_API_GetSclkFrequency

int smu_find_mailbox(struct smu *s)
{
	uint32_t resp;
	int err = wait_answer(s, &resp);

	if (err != -ETIMEDOUT)
		return err;
	rx_log(LOG_WARN, "smu",
	        "SMC_RESP_0 stays 0: a driver that was killed before it sent its message, or a "
	        "firmware that hangs; asking it");
	err = reg_write(s->mmio, REG_SMC_MESSAGE_0, HARMLESS);
	if (!err)
		err = wait_answer(s, &resp);
	s->answered = !err;
	return err == -ETIMEDOUT ? rx_fail("smu", err,
	                                   "message %s (0x%x): no answer for %d ms from the "
	                                   "firmware found running: the SMU hangs",
	                                   message_name(HARMLESS), HARMLESS, SMU_TIMEOUT_MS)
	                         : err;
}

/* verdict - what is refused time and again, every second with the sensors, is said once. */
static int verdict(struct smu *s, enum ppsmc_msg id, uint32_t arg, uint32_t resp)
{
	bool known = s->refused == id;

	if (resp == RESP_OK) {
		s->refused = known ? 0 : s->refused;
		return 0;
	}
	s->refused = id;
	rx_log(known ? LOG_DEBUG : LOG_ERROR, "smu",
	        "message %s (0x%x), argument 0x%x: the firmware answers 0x%x (%s)",
	        message_name(id), id, arg, resp,
	        resp == RESP_UNKNOWN ? "it does not know it" : "failed");
	return resp == RESP_UNKNOWN ? -EOPNOTSUPP : -EIO;
}

/* send - @arg NULL: the message takes none, and what is in the register stays. */
static int send(struct smu *s, enum ppsmc_msg id, const uint32_t *arg)
{
	uint32_t resp;
	int err = make_free(s);

	s->answered = false;
	if (!err && arg)
		err = reg_write(s->mmio, REG_SMC_MSG_ARG_0, *arg);
	if (!err)
		err = reg_write(s->mmio, REG_SMC_RESP_0, 0);
	if (!err)
		err = reg_write(s->mmio, REG_SMC_MESSAGE_0, id);
	if (err)
		return err;
	err = wait_answer(s, &resp);
	if (err == -ETIMEDOUT)
		return rx_fail("smu", err, "message %s (0x%x): no answer for %d ms",
		        message_name(id), id, SMU_TIMEOUT_MS);
	if (err)
		return err;
	s->answered = true;
	return verdict(s, id, arg ? *arg : 0, resp);
}

int smu_message(struct smu *s, enum ppsmc_msg id)
{
	return send(s, id, NULL);
}

int smu_message_arg(struct smu *s, enum ppsmc_msg id, uint32_t arg)
{
	return send(s, id, &arg);
}

int smu_query(struct smu *s, enum ppsmc_msg id, uint32_t *result)
{
	int err = send(s, id, NULL);

	return err ? err : reg_read(s->mmio, REG_SMC_MSG_ARG_0, result);
}

bool smu_silent(const struct smu *s)
{
	return s->silent;
}
