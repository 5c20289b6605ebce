/* matmul_tile.h - one tiled matrix product, included once per kernel of matmul.cl. No include guard
 * on purpose. MATMUL        name of the kernel MT, NT        micro-tile of a work-item; 16 x 16
 * work-items compute a tile of TM = 16 MT rows, TN = 16 NT columns A_ROWS        1: a[M][K], 0:
 * a[K][M]        B_ROWS  1: b[N][K], 0: b[K][N] OCCUPANCY     waves a SIMD the registers must leave
 * room for EPILOGUE      what happens to an element before it is stored, see EXTRA_ARGUMENTS Tiles
 * lie in LDS k-major, double-buffered, one barrier per 16 k; layout and register budget:
 * kernels.md 2.3, 2.4.
 */
#define TM (16 * MT)
#define TN (16 * NT)
#define TK 16

/* Loads of a work-item per tile: dwordx4 along k if the operand is stored in rows of k, dwords
 * along the tile otherwise. */
#define A_QUADS (TM / 64) /* row t/4 + 64 j, k quad t%4; TM a multiple of 64 */
#define A_WORDS (TM * TK / 256)
#define B_WORDS (TN * TK / 256)

/* A row-major: the four k quads of a row go to columns m XOR 8 q, so that the transposed stores hit
 * different banks. B row-major: pitch TN + 4. */
#define A_PITCH    TM
#define A_SWIZZLES (A_ROWS ? 4 : 1)
#define B_PITCH    (TN + (B_ROWS ? 4 : 0))
#define A_SIZE     (TK * A_PITCH)
#define B_SIZE     (TK * B_PITCH)
#define BUFFER     (A_SIZE + B_SIZE)

#if EPILOGUE == EPILOGUE_BIAS
#define EXTRA_ARGUMENTS , global const float *bias
#elif EPILOGUE == EPILOGUE_BIAS_RESIDUAL
#define EXTRA_ARGUMENTS , global const float *bias, global const float *residual
#elif EPILOGUE == EPILOGUE_BIAS_GELU
#define EXTRA_ARGUMENTS , global const float *bias, global float *u
#elif EPILOGUE == EPILOGUE_DGELU
#define EXTRA_ARGUMENTS , global const float *u
#elif EPILOGUE == EPILOGUE_COLUMN_SUMS
#define EXTRA_ARGUMENTS , global float *dbias
#else
#define EXTRA_ARGUMENTS
#endif

/* Column and row inside the tile of accumulator (i, j): groups of four lie together, 64 apart; a
 * fifth lies 16 apart. */
#define TILE_ROW(i)                                                                                \
	((i) < MT / 4 * 4 ? (i) / 4 * 64 + ty * 4 + (i) % 4 : MT / 4 * 64 + ty + 16 * ((i) % 4))
#define TILE_COLUMN(j)                                                                             \
	((j) < NT / 4 * 4 ? (j) / 4 * 64 + tx * 4 + (j) % 4 : NT / 4 * 64 + tx + 16 * ((j) % 4))

/* Next tile into registers. The last one may have less than TK steps of k: each word is then loaded
 * by itself or not at all. */
#if A_ROWS
#define LOAD_A()                                                                                   \
	each (j, A_QUADS)                                                                          \
	a_next[j] = load4(ra, a_offset[j], a_at)
#define LOAD_A_TAIL()                                                                              \
	each (j, A_QUADS)                                                                          \
		each (e, 4)                                                                        \
	a_next[j][e] = load1(ra, t % 4 * 4 + e < k - done ? a_offset[j] + e * 4 : FAR_AWAY, a_at)
#define STORE_A(BASE)                                                                              \
	each (j, A_QUADS)                                                                          \
		each (e, 4)                                                                        \
	words[(BASE) + (t % 4 * 4 + e) * A_PITCH + (t / 4 ^ t % 4 * 8) + 64 * j] = a_next[j][e]
#else
#define LOAD_A()                                                                                   \
	each (j, A_WORDS)                                                                          \
	a_next[j] = load1(ra, a_offset[j], a_at)
#define LOAD_A_TAIL()                                                                              \
	each (j, A_WORDS)                                                                          \
	a_next[j] = load1(ra, (t + 256 * j) / TM < k - done ? a_offset[j] : FAR_AWAY, a_at)
#define STORE_A(BASE)                                                                              \
	each (j, A_WORDS)                                                                          \
	words[(BASE) + t + 256 * j] = a_next[j]
#endif
#if B_ROWS
#define B_STEP(J) (t % TK)
#define B_SLOT(J) (t % TK * B_PITCH + t / TK + 16 * (J))
#else
#define B_STEP(J) ((t + 256 * (J)) / TN)
#define B_SLOT(J) (t + 256 * (J))
#endif
#define LOAD_B()                                                                                   \
	each (j, B_WORDS)                                                                          \
	b_next[j] = load1(rb, b_offset[j], b_at)
#define LOAD_B_TAIL()                                                                              \
	each (j, B_WORDS)                                                                          \
	b_next[j] = load1(rb, B_STEP(j) < k - done ? b_offset[j] : FAR_AWAY, b_at)
#define STORE_B(BASE)                                                                              \
	each (j, B_WORDS)                                                                          \
	words[(BASE) + A_SIZE + B_SLOT(j)] = b_next[j]
#if EPILOGUE == EPILOGUE_COLUMN_SUMS
#define SUM_B()                                                                                    \
	each (j, B_WORDS)                                                                          \
	column_sum[j] += b_next[j]
#else
#define SUM_B()
#endif

#define LOAD_TILE()                                                                                \
	do {                                                                                       \
		if (k - done >= TK) {                                                              \
			LOAD_A();                                                                  \
			LOAD_B();                                                                  \
		} else {                                                                           \
			LOAD_A_TAIL();                                                             \
			LOAD_B_TAIL();                                                             \
		}                                                                                  \
		a_at += a_step;                                                                    \
		b_at += b_step;                                                                    \
		done += TK;                                                                        \
	} while (0)
#define STORE_TILE(BASE)                                                                           \
	do {                                                                                       \
		SUM_B();                                                                           \
		STORE_A(BASE);                                                                     \
		STORE_B(BASE);                                                                     \
	} while (0)

/* Where this work-item reads in the current tile: pointers whose distances to all its reads are
 * constants, which the instructions hold. A of k step KK starts at a_quads[q] if A is swizzled. */
#define POINT(BASE)                                                                                \
	do {                                                                                       \
		each (q, A_SWIZZLES)                                                               \
			a_quads[q] = (local float4 *)(words + (BASE)) + (ty ^ q * 2);              \
		a_words = words + (BASE) + ty;                                                     \
		b_quads = (local float4 *)(words + (BASE)) + tx;                                   \
		b_words = words + (BASE) + tx;                                                     \
	} while (0)
#define FETCH(A, B, KK)                                                                            \
	do {                                                                                       \
		each (h, MT / 4) {                                                                 \
			float4 quad =                                                              \
			        a_quads[(KK) / 4 % A_SWIZZLES][(KK) * (A_PITCH / 4) + 16 * h];     \
			each (e, 4)                                                                \
				A[4 * h + e] = quad[e];                                            \
		}                                                                                  \
		each_from (h, MT / 4 * 4, MT, 1)                                                   \
			A[h] = a_words[(KK) * A_PITCH + MT / 4 * 64 + 16 * (h % 4)];               \
		each (h, NT / 4) {                                                                 \
			float4 quad = b_quads[(A_SIZE + (KK) * B_PITCH) / 4 + 16 * h];             \
			each (e, 4)                                                                \
				B[4 * h + e] = quad[e];                                            \
		}                                                                                  \
		each_from (h, NT / 4 * 4, NT, 1)                                                   \
			B[h] = b_words[A_SIZE + (KK) * B_PITCH + NT / 4 * 64 + 16 * (h % 4)];      \
	} while (0)

/* The empty asm keeps the products before it and later LDS reads after it: without it every read of
 * the tile is hoisted and registers spill (kernels.md 2.1, "spill trap"). */
#define MULTIPLY(A, B)                                                                             \
	do {                                                                                       \
		each (i, MT)                                                                       \
			each (j, NT)                                                               \
				acc[i][j] = A[i] * B[j] + acc[i][j];                               \
		each (i, MT)                                                                       \
			each (j, NT)                                                               \
				__asm__ volatile("" ::"v"(acc[i][j]) : "memory");                  \
	} while (0)

/* One row of the tile. Rows outside the matrix lie beyond the resource; in the last column tile
 * each column is tested. */
#define STORE_ROW(R, V)                                                                            \
	do {                                                                                       \
		if (n0 + TN <= n) {                                                                \
			each_from (j, 0, NT / 4 * 4, 4)                                            \
				store4(((float4)(V[j], V[j + 1], V[j + 2], V[j + 3])), R,          \
				        at + TILE_COLUMN(j) * 4, 0);                               \
			each_from (j, NT / 4 * 4, NT, 1)                                           \
				store1(V[j], R, at + TILE_COLUMN(j) * 4, 0);                       \
		} else {                                                                           \
			each (j, NT)                                                               \
				store1(V[j], R,                                                    \
				        n0 + TILE_COLUMN(j) < n ? at + TILE_COLUMN(j) * 4          \
				                                : FAR_AWAY,                        \
				        0);                                                        \
		}                                                                                  \
	} while (0)

GROUP(256)
WAVES(OCCUPANCY)
kernel void MATMUL(global const float *a, global const float *b, global float *c, uint m, uint n,
        uint k, uint lda, uint ldb, uint ldc EXTRA_ARGUMENTS)
{
	local float4 lds[2 * BUFFER / 4];
	local float *words = (local float *)lds;
	const uint t = lane_id(), tx = t & 15, ty = t >> 4;
	const uint m0 = group_y() * TM, n0 = group_x() * TN;

	/* Offsets of this work-item's loads in the first tile. Rows of k: those outside the matrix
	 * end the resource, or not even that: columns outside are sent far away. */
#if A_ROWS
	const rsrc_t ra = resource(a, ((m - 1) * lda + k) * 4);
	const uint a_step = TK * 4;
	float4 a_next[A_QUADS];
	uint a_offset[A_QUADS];
	each (j, A_QUADS)
		a_offset[j] = ((m0 + t / 4 + 64 * j) * lda + t % 4 * 4) * 4;
#else
	const rsrc_t ra = resource(a, ((k - 1) * lda + m) * 4);
	const uint a_step = TK * lda * 4;
	float a_next[A_WORDS];
	uint a_offset[A_WORDS];
	each (j, A_WORDS) {
		uint row = (t + 256 * j) / TM, column = m0 + (t + 256 * j) % TM;
		a_offset[j] = column < m ? (row * lda + column) * 4 : FAR_AWAY;
	}
#endif
#if B_ROWS
	const rsrc_t rb = resource(b, ((n - 1) * ldb + k) * 4);
	const uint b_step = TK * 4;
#else
	const rsrc_t rb = resource(b, ((k - 1) * ldb + n) * 4);
	const uint b_step = TK * ldb * 4;
#endif
	float b_next[B_WORDS];
	uint b_offset[B_WORDS];
	each (j, B_WORDS) {
#if B_ROWS
		b_offset[j] = ((n0 + t / TK + 16 * j) * ldb + t % TK) * 4;
#else
		uint row = (t + 256 * j) / TN, column = n0 + (t + 256 * j) % TN;
		b_offset[j] = column < n ? (row * ldb + column) * 4 : FAR_AWAY;
#endif
	}

	float acc[MT][NT];
	each (i, MT)
		each (j, NT)
			acc[i][j] = 0;
#if EPILOGUE == EPILOGUE_COLUMN_SUMS
	float column_sum[B_WORDS];
	each (j, B_WORDS)
		column_sum[j] = 0;
#endif

	local float4 *a_quads[A_SWIZZLES], *b_quads;
	local float *a_words, *b_words;
	uint base = 0, done = 0, a_at = 0, b_at = 0;
	LOAD_TILE();
	STORE_TILE(0);
	group_barrier();
	for (;;) {
		const bool more = done < k;
		if (more)
			LOAD_TILE();
		float a0[MT], b0[NT], a1[MT], b1[NT];
		POINT(base);
		FETCH(a0, b0, 0);
		each_from (kk, 0, TK, 2) {
			FETCH(a1, b1, kk + 1);
			MULTIPLY(a0, b0);
			if (kk + 2 < TK)
				FETCH(a0, b0, kk + 2);
			MULTIPLY(a1, b1);
		}
		if (!more)
			break;
		base = BUFFER - base;
		OPAQUE(base); /* else folded into the stores' addresses as a negative base */
		STORE_TILE(base);
		group_barrier();
	}

	const uint c_bytes = ((m - 1) * ldc + n) * 4;
	const rsrc_t rc = resource(c, c_bytes);
#if EPILOGUE == EPILOGUE_BIAS || EPILOGUE == EPILOGUE_BIAS_RESIDUAL ||                             \
        EPILOGUE == EPILOGUE_BIAS_GELU
	const rsrc_t rbias = resource(bias, n * 4);
	float column_bias[NT];
	each (j, NT)
		column_bias[j] = load1(rbias, (n0 + TILE_COLUMN(j)) * 4, 0);
#endif
#if EPILOGUE == EPILOGUE_BIAS_RESIDUAL
	const rsrc_t rx = resource(residual, c_bytes);
#elif EPILOGUE == EPILOGUE_BIAS_GELU || EPILOGUE == EPILOGUE_DGELU
	const rsrc_t rx = resource(u, c_bytes);
#endif
	each (i, MT) {
		const uint at = ((m0 + TILE_ROW(i)) * ldc + n0) * 4;
		float value[NT];
		each (j, NT) {
			value[j] = acc[i][j];
#if EPILOGUE == EPILOGUE_BIAS || EPILOGUE == EPILOGUE_BIAS_RESIDUAL ||                             \
        EPILOGUE == EPILOGUE_BIAS_GELU
			value[j] += column_bias[j];
#endif
#if EPILOGUE == EPILOGUE_BIAS_RESIDUAL
			value[j] += load1(rx, at + TILE_COLUMN(j) * 4, 0);
#elif EPILOGUE == EPILOGUE_DGELU
			value[j] *= gelu_slope(load1(rx, at + TILE_COLUMN(j) * 4, 0));
#endif
		}
#if EPILOGUE == EPILOGUE_BIAS_GELU
		STORE_ROW(rx, value);
		each (j, NT)
			value[j] *= gelu_gate(value[j]);
#endif
		STORE_ROW(rc, value);
	}
#if EPILOGUE == EPILOGUE_COLUMN_SUMS
	/* word i of a tile of B is column i % TN of k step i / TN: add the TK partial sums of a
	 * column in order of k */
	if (m0 != 0)
		return;
	group_barrier();
	each (j, B_WORDS)
		words[t + 256 * j] = column_sum[j];
	group_barrier();
	if (t < TN && n0 + t < n) {
		float sum = 0;
		for (uint r = 0; r < TK; r++)
			sum += words[t + r * TN];
		dbias[n0 + t] = sum;
	}
#endif
}

#undef MATMUL
#undef MT
#undef NT
#undef A_ROWS
#undef B_ROWS
#undef OCCUPANCY
#undef EPILOGUE
#undef TM
#undef TN
#undef TK
#undef A_QUADS
#undef A_WORDS
#undef B_WORDS
#undef A_PITCH
#undef B_PITCH
#undef A_SIZE
#undef B_SIZE
#undef BUFFER
#undef EXTRA_ARGUMENTS
#undef TILE_ROW
#undef TILE_COLUMN
#undef A_SWIZZLES
#undef POINT
#undef FETCH
#undef MULTIPLY
#undef LOAD_A
#undef LOAD_A_TAIL
#undef STORE_A
#undef B_STEP
#undef B_SLOT
#undef LOAD_B
#undef LOAD_B_TAIL
#undef STORE_B
#undef SUM_B
#undef LOAD_TILE
#undef STORE_TILE
#undef STORE_ROW
