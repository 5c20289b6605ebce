/* matmul.cl - every matrix product of the model: C = A B in three storage forms, with the
 * element-wise work that follows it fused into the epilogue. The kernels differ in macros only;
 * matmul_tile.h is the code.
 */
#include "gpu.h"

#define EPILOGUE_NONE          0
#define EPILOGUE_BIAS          1
#define EPILOGUE_BIAS_RESIDUAL 2
#define EPILOGUE_BIAS_GELU     3
#define EPILOGUE_DGELU         4
#define EPILOGUE_COLUMN_SUMS   5

/* tanh form: gelu(u) = u gate(u), gate = 1 / (1 + 2^(-GELU_RATE u (1 + GELU_CUBE u^2))), GELU_RATE
 * = 2 sqrt(2/pi) log2(e) */
#define GELU_RATE 2.3022081984f
#define GELU_CUBE 0.044715f

inline float gelu_gate(float u)
{
	float y = u * (GELU_CUBE * u * u + 1.0f);
	return rcp_hw(1.0f + exp2_hw(-GELU_RATE * y));
}

/* d gelu / du = gate + u gate (1 - gate) ln2 GELU_RATE (1 + 3 GELU_CUBE u^2) */
inline float gelu_slope(float u)
{
	float gate = gelu_gate(u);
	return gate +
	       u * gate * (1.0f - gate) * (GELU_RATE * LN2) * (3.0f * GELU_CUBE * u * u + 1.0f);
}

#define MATMUL    matmul_nn_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_nn_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_residual_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS_RESIDUAL
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_residual_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS_RESIDUAL
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_gelu_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS_GELU
#include "matmul_tile.h"

#define MATMUL    matmul_nn_bias_gelu_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_BIAS_GELU
#include "matmul_tile.h"

#define MATMUL    matmul_nt_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    1
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_nt_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    1
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_nt_dgelu_128x80
#define MT        8
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    1
#define B_ROWS    1
#define EPILOGUE  EPILOGUE_DGELU
#include "matmul_tile.h"

#define MATMUL    matmul_nt_dgelu_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    1
#define B_ROWS    1
#define EPILOGUE  EPILOGUE_DGELU
#include "matmul_tile.h"

#define MATMUL    matmul_tn_80x80
#define MT        5
#define NT        5
#define OCCUPANCY 3
#define A_ROWS    0
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_tn_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    0
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_NONE
#include "matmul_tile.h"

#define MATMUL    matmul_tn_bias_80x80
#define MT        5
#define NT        5
#define OCCUPANCY 2
#define A_ROWS    0
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_COLUMN_SUMS
#include "matmul_tile.h"

#define MATMUL    matmul_tn_bias_64x64
#define MT        4
#define NT        4
#define OCCUPANCY 3
#define A_ROWS    0
#define B_ROWS    0
#define EPILOGUE  EPILOGUE_COLUMN_SUMS
#include "matmul_tile.h"
