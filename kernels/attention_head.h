/* attention_head.h - causal attention for heads of HEAD channels, included once per head size. No
 * include guard on purpose. HEAD, SCALE = 1/sqrt(HEAD). FORWARD_WAVES, GRAD_WAVES, DV_WAVES: waves
 * a SIMD, that is the register budget of the kernels. One lane owns one row (a query; in dk and dv
 * a key); the rows of the other side are uniform and come through the scalar cache into SGPRs, so
 * that every product is v_mac_f32 v, s, v. The four waves of a group own the same 64 rows and take
 * chunks of the other side in turns (kernels.md 3). Scores are kept in units of log2: q or k is
 * scaled by SCALE log2(e).
 */
#define PASTE_(op, head) attention_##op##_d##head
#define PASTE(op, head)  PASTE_(op, head)
#define ATTENTION(op)    PASTE(op, HEAD)
#define PIECE            (HEAD < 32 ? HEAD : 32) /* floats of a uniform row held in SGPRs at once */

/* The lane's row of HEAD floats at byte offset @at of resource @r; @acc scaled on the way out. */
#define LOAD_ROW(row, r, at)                                                                       \
	each_from (d, 0, HEAD, 4) {                                                                \
		float4 quad = load4(r, (at) + d * 4, 0);                                           \
		each (e, 4)                                                                        \
			row[d + e] = quad[e];                                                      \
	}
#define STORE_ROW(row, factor, r, at)                                                              \
	each_from (d, 0, HEAD, 4)                                                                  \
	store4(((float4)(row[d], row[d + 1], row[d + 2], row[d + 3]) * (factor)), r, (at) + d * 4, \
	        0)

/* A piece of a uniform row. The offset is made opaque: invariant loads would otherwise all be
 * hoisted out of SGPR reach. */
#define LOAD_UNIFORM(piece, base, at)                                                              \
	do {                                                                                       \
		OPAQUE(at);                                                                        \
		constant float *source =                                                           \
		        (constant float *)((constant char *)(base) + (uint)((at) * 4));            \
		each (d, PIECE)                                                                    \
			piece[d] = source[d];                                                      \
	} while (0)
#define DOT(sum, piece, row, first)                                                                \
	do {                                                                                       \
		each (d, PIECE)                                                                    \
			sum = piece[d] * row[(first) + d] + sum;                                   \
		KEEP(sum);                                                                         \
	} while (0)
#define ADD(acc, factor, piece, first)                                                             \
	do {                                                                                       \
		each (d, PIECE)                                                                    \
			acc[(first) + d] = piece[d] * (factor) + acc[(first) + d];                 \
		KEEP(acc[(first)]);                                                                \
		KEEP(acc[(first) + PIECE / 2]);                                                    \
		KEEP(acc[(first) + PIECE - 1]);                                                    \
	} while (0)

/* Whole uniform rows at float offset @at, piece by piece. */
#define ROW_DOT(sum, base, at, row)                                                                \
	each_from (first, 0, HEAD, PIECE) {                                                        \
		float piece[PIECE];                                                                \
		uint piece_at = (at) + first;                                                      \
		LOAD_UNIFORM(piece, base, piece_at);                                               \
		DOT(sum, piece, row, first);                                                       \
	}
#define ROW_ADD(acc, factor, base, at)                                                             \
	each_from (first, 0, HEAD, PIECE) {                                                        \
		float piece[PIECE];                                                                \
		uint piece_at = (at) + first;                                                      \
		LOAD_UNIFORM(piece, base, piece_at);                                               \
		ADD(acc, factor, piece, first);                                                    \
	}

/* Four rows of the other side, j = 0..3: s = first_j . a, dp = second_j . b, acc += 2^(s - lse) (dp
 * - delta) first_j. first and second are float offsets of row 0; first rows are PITCH apart. LSE,
 * DELTA and VISIBLE (does row j count?) are expressions in j. Where whole rows fit in
 * SGPRs three times, each is requested one product before its first use. */
#if HEAD == PIECE
#define GRADIENT_CHUNK(a, b, first, second_base, second, second_pitch, LSE, DELTA, VISIBLE)        \
	do {                                                                                       \
		float rows[2][PIECE], other[PIECE];                                                \
		uint first_at = (first), second_at = (second);                                     \
		LOAD_UNIFORM(rows[0], uqkv, first_at);                                             \
		each (j, 4) {                                                                      \
			float s = 0, dp = 0;                                                       \
			LOAD_UNIFORM(other, second_base, second_at);                               \
			DOT(s, rows[j % 2], a, 0);                                                 \
			DOT(dp, other, b, 0);                                                      \
			if (j < 3) {                                                               \
				first_at += pitch;                                                 \
				second_at += (second_pitch);                                       \
				LOAD_UNIFORM(rows[(j + 1) % 2], uqkv, first_at);                   \
			}                                                                          \
			float ds = exp2_hw(s - (LSE)) * (dp - (DELTA));                            \
			ds = (VISIBLE) ? ds : 0;                                                   \
			ADD(acc, ds, rows[j % 2], 0);                                              \
		}                                                                                  \
	} while (0)
#else
#define GRADIENT_CHUNK(a, b, first, second_base, second, second_pitch, LSE, DELTA, VISIBLE)        \
	each (j, 4) {                                                                              \
		float s = 0, dp = 0;                                                               \
		ROW_DOT(s, uqkv, (first) + j * pitch, a);                                          \
		ROW_DOT(dp, second_base, (second) + j * (second_pitch), b);                        \
		float ds = exp2_hw(s - (LSE)) * (dp - (DELTA));                                    \
		ds = (VISIBLE) ? ds : 0;                                                           \
		ROW_ADD(acc, ds, uqkv, (first) + j * pitch);                                       \
	}
#endif
#define VALUE_CHUNK(a, first, second_base, second, second_pitch, LSE, VISIBLE)                     \
	each (j, 4) {                                                                              \
		float s = 0;                                                                       \
		ROW_DOT(s, uqkv, (first) + j * pitch, a);                                          \
		float p = exp2_hw(s - (LSE));                                                      \
		p = (VISIBLE) ? p : 0;                                                             \
		ROW_ADD(acc, p, second_base, (second) + j * (second_pitch));                       \
	}

/* acc of wave 0 = sum over the waves in order; red[d][lane] */
#define COMBINE(acc)                                                                               \
	each_from (source, 1, 4, 1) {                                                              \
		if (wave == source)                                                                \
			each (d, HEAD)                                                             \
				red[d * 64 + lane] = acc[d];                                       \
		group_barrier();                                                                   \
		if (wave == 0)                                                                     \
			each (d, HEAD)                                                             \
				acc[d] += red[d * 64 + lane];                                      \
		group_barrier();                                                                   \
	}

/* Common to all: lane's row @own of block @block, head at column @column, first row of this
 * sequence in the batch. */
#define PROLOGUE(BLOCK)                                                                            \
	const uint lane = lane_id() & 63, wave = uniform(lane_id() >> 6);                          \
	const uint block = (BLOCK), head = group_y(), own = block * 64 + lane;                     \
	const uint pitch = 3 * c, column = head * HEAD;                                            \
	const uint batch = group_z(), batches = batch + 1;                                         \
	const uint statistics = (batch * (c / HEAD) + head) * t;                                   \
	const rsrc_t rqkv = resource(qkv, batches * t * pitch * 4);                                \
	constant float *uqkv = as_constant(float, qkv) + (uint)(batch * t * pitch)
#define QKV_AT(part) (((batch * t + own) * pitch + (part) * c + column) * 4)
#define OUT_AT       (((batch * t + own) * c + column) * 4)

#define FORWARD_KEYS 8 /* keys a chunk */
GROUP(256)
WAVES(FORWARD_WAVES)
kernel void ATTENTION(forward)(
        global const float *qkv, global float *out, global float *lse, uint t, uint c)
{
	local float red[HEAD * 64], red_max[4][64], red_sum[4][64];
	PROLOGUE(t / 64 - 1 - group_x()); /* longest first */
	float q[HEAD], acc[HEAD], top = LOWEST, sum = 0;
	LOAD_ROW(q, rqkv, QKV_AT(0));
	each (d, HEAD) {
		q[d] *= SCALE * LOG2E;
		acc[d] = 0;
	}
	const uint whole = block * (64 / FORWARD_KEYS), chunks = whole + 64 / FORWARD_KEYS;

#define CHUNK(DIAGONAL)                                                                            \
	do {                                                                                       \
		float s[FORWARD_KEYS];                                                             \
		each (j, FORWARD_KEYS) {                                                           \
			s[j] = 0;                                                                  \
			ROW_DOT(s[j], uqkv, (chunk * FORWARD_KEYS + j) * pitch + c + column, q);   \
			if (DIAGONAL)                                                              \
				s[j] = chunk * FORWARD_KEYS + j <= own ? s[j] : LOWEST;            \
		}                                                                                  \
		float new_top = top;                                                               \
		each (j, FORWARD_KEYS)                                                             \
			new_top = max_f(new_top, s[j]);                                            \
		const float shrink = exp2_hw(top - new_top);                                       \
		top = new_top;                                                                     \
		sum *= shrink;                                                                     \
		each (d, HEAD)                                                                     \
			acc[d] *= shrink;                                                          \
		each (j, FORWARD_KEYS) {                                                           \
			s[j] = exp2_hw(s[j] - top);                                                \
			if (DIAGONAL)                                                              \
				s[j] = chunk * FORWARD_KEYS + j <= own ? s[j] : 0;                 \
			sum += s[j];                                                               \
		}                                                                                  \
		each (j, FORWARD_KEYS)                                                             \
			ROW_ADD(acc, s[j], uqkv,                                                   \
			        (chunk * FORWARD_KEYS + j) * pitch + 2 * c + column)               \
	} while (0)

	uint chunk = wave;
	for (; chunk < whole; chunk += 4)
		CHUNK(0);
	for (; chunk < chunks; chunk += 4)
		CHUNK(1);
#undef CHUNK

	/* bring the four key subsets to a common maximum, then add them in order */
	red_max[wave][lane] = top;
	group_barrier();
	const float common = max_f(max_f(red_max[0][lane], red_max[1][lane]),
	        max_f(red_max[2][lane], red_max[3][lane]));
	const float shrink = exp2_hw(top - common);
	red_sum[wave][lane] = sum * shrink;
	each (d, HEAD)
		acc[d] *= shrink;
	COMBINE(acc);
	if (wave != 0)
		return;
	const float total =
	        ((red_sum[0][lane] + red_sum[1][lane]) + red_sum[2][lane]) + red_sum[3][lane];
	STORE_ROW(acc, rcp_hw(total), resource(out, batches * t * c * 4), OUT_AT);
	store1(common + log2_hw(total), resource(lse, (statistics + t) * 4), (statistics + own) * 4,
	        0);
}

GROUP(64)
kernel void ATTENTION(delta)(
        global const float *out, global const float *dout, global float *delta, uint t, uint c)
{
	const uint own = group_x() * 64 + lane_id(), column = group_y() * HEAD, batch = group_z(),
	           batches = batch + 1;
	const uint statistics = (batch * (c / HEAD) + group_y()) * t;
	float o[HEAD], g[HEAD], sum = 0;
	LOAD_ROW(o, resource(out, batches * t * c * 4), OUT_AT);
	LOAD_ROW(g, resource(dout, batches * t * c * 4), OUT_AT);
	each (d, HEAD)
		sum = o[d] * g[d] + sum;
	store1(sum, resource(delta, (statistics + t) * 4), (statistics + own) * 4, 0);
}

/* The three gradients recompute p = 2^(s - lse). ds = p (dp - delta), dp = dout . v. Rows of the
 * other side come in chunks of 4. dq: own query; acc += ds k. dk: own key; acc += ds q. dv: own
 * key; acc += p dout. */
GROUP(256)
WAVES(GRAD_WAVES)
kernel void ATTENTION(dq)(global const float *qkv, global const float *dout,
        global const float *lse, global const float *delta, global float *dqkv, uint t, uint c)
{
	local float red[HEAD * 64];
	PROLOGUE(t / 64 - 1 - group_x());
	float q[HEAD], g[HEAD], acc[HEAD];
	LOAD_ROW(q, rqkv, QKV_AT(0));
	LOAD_ROW(g, resource(dout, batches * t * c * 4), OUT_AT);
	each (d, HEAD) {
		q[d] *= SCALE * LOG2E;
		acc[d] = 0;
	}
	const float own_lse = load1(resource(lse, (statistics + t) * 4), (statistics + own) * 4, 0);
	const float own_delta =
	        load1(resource(delta, (statistics + t) * 4), (statistics + own) * 4, 0);
	const uint whole = block * 16, chunks = whole + 16;

	uint chunk = wave;
	for (; chunk < whole; chunk += 4) {
		const uint at = chunk * 4 * pitch + c + column;
		GRADIENT_CHUNK(q, g, at, uqkv, at + c, pitch, own_lse, own_delta, true);
	}
	for (; chunk < chunks; chunk += 4) {
		const uint at = chunk * 4 * pitch + c + column;
		GRADIENT_CHUNK(
		        q, g, at, uqkv, at + c, pitch, own_lse, own_delta, chunk * 4 + j <= own);
	}
	COMBINE(acc);
	if (wave == 0)
		STORE_ROW(acc, SCALE, resource(dqkv, batches * t * pitch * 4), QKV_AT(0));
}

GROUP(256)
WAVES(GRAD_WAVES)
kernel void ATTENTION(dk)(global const float *qkv, global const float *dout,
        global const float *lse, global const float *delta, global float *dqkv, uint t, uint c)
{
	local float red[HEAD * 64];
	PROLOGUE(group_x());
	float k[HEAD], v[HEAD], acc[HEAD];
	LOAD_ROW(k, rqkv, QKV_AT(1));
	LOAD_ROW(v, rqkv, QKV_AT(2));
	each (d, HEAD) {
		k[d] *= SCALE * LOG2E;
		acc[d] = 0;
	}
	constant float *udout = as_constant(float, dout) + (uint)(batch * t * c);
	constant float *ulse = as_constant(float, lse) + statistics;
	constant float *udelta = as_constant(float, delta) + statistics;
	uint result_at = QKV_AT(1);
	IN_VGPR(result_at);
	const uint whole = block * 16 + 16, chunks = t / 4;

	for (uint chunk = whole + wave; chunk < chunks; chunk += 4) {
		const uint query = chunk * 4;
		GRADIENT_CHUNK(k, v, query * pitch + column, udout, query * c + column, c,
		        ulse[query + j], udelta[query + j], true);
	}
	for (uint chunk = whole - 16 + wave; chunk < whole; chunk += 4) {
		const uint query = chunk * 4;
		GRADIENT_CHUNK(k, v, query * pitch + column, udout, query * c + column, c,
		        ulse[query + j], udelta[query + j], own <= query + j);
	}
	COMBINE(acc);
	if (wave == 0)
		STORE_ROW(acc, SCALE, resource(dqkv, batches * t * pitch * 4), result_at);
}

GROUP(256)
WAVES(DV_WAVES)
kernel void ATTENTION(dv)(global const float *qkv, global const float *dout,
        global const float *lse, global float *dqkv, uint t, uint c)
{
	local float red[HEAD * 64];
	PROLOGUE(group_x());
	float k[HEAD], acc[HEAD];
	LOAD_ROW(k, rqkv, QKV_AT(1));
	each (d, HEAD) {
		k[d] *= SCALE * LOG2E;
		acc[d] = 0;
	}
	constant float *udout = as_constant(float, dout) + (uint)(batch * t * c);
	constant float *ulse = as_constant(float, lse) + statistics;
	const uint whole = block * 16 + 16, chunks = t / 4;

	uint chunk = block * 16 + wave;
	for (; chunk < whole; chunk += 4) {
		const uint query = chunk * 4;
		VALUE_CHUNK(k, query * pitch + column, udout, query * c + column, c,
		        ulse[query + j], own <= query + j);
	}
	for (; chunk < chunks; chunk += 4) {
		const uint query = chunk * 4;
		VALUE_CHUNK(k, query * pitch + column, udout, query * c + column, c,
		        ulse[query + j], true);
	}
	COMBINE(acc);
	if (wave == 0)
		STORE_ROW(acc, 1.0f, resource(dqkv, batches * t * pitch * 4), QKV_AT(2));
}

#undef PASTE_
#undef PASTE
#undef ATTENTION
#undef PIECE
#undef LOAD_ROW
#undef STORE_ROW
#undef LOAD_UNIFORM
#undef DOT
#undef ADD
#undef ROW_DOT
#undef ROW_ADD
#undef GRADIENT_CHUNK
#undef VALUE_CHUNK
#undef COMBINE
#undef PROLOGUE
#undef QKV_AT
#undef OUT_AT
#undef FORWARD_KEYS
#undef HEAD
#undef SCALE
#undef FORWARD_WAVES
#undef GRAD_WAVES
#undef DV_WAVES
