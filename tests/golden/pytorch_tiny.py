"""What the PyTorch goldens and the mount test agree on: the tiny model's layout, weights, ids and schedule. numpy only.

Written from docs/kernels.md and docs/plan-format.md, not from the trainer's sources: a second opinion on both.
"""
import math

import numpy as np

B, T, C, H, L, V = 4, 64, 64, 2, 2, 512
STEPS, LR, BETA1, BETA2, EPS, DECAY, CLIP = 20, 3e-3, 0.9, 0.95, 1e-8, 0.1, 1.0
SEED = 0x1234567890ABCDEF
ADAM_STEPS = 3
SAMPLES = 200  # elements of each tensor that are stored


def layout():
    """(name, shape, kind) in the order of the flat buffers: matrices first, they decay."""
    matrices = [("wte.weight", (V, C), "normal"), ("wpe.weight", (T, C), "normal")]
    vectors = []
    for i in range(L):
        matrices += [(f"h.{i}.attn.c_attn.weight", (C, 3 * C), "normal"), (f"h.{i}.attn.c_proj.weight", (C, C), "residual"),
                     (f"h.{i}.mlp.c_fc.weight", (C, 4 * C), "normal"), (f"h.{i}.mlp.c_proj.weight", (4 * C, C), "residual")]
        vectors += [(f"h.{i}.ln_1.weight", (C,), "one"), (f"h.{i}.ln_1.bias", (C,), "zero"),
                    (f"h.{i}.attn.c_attn.bias", (3 * C,), "zero"), (f"h.{i}.attn.c_proj.bias", (C,), "zero"),
                    (f"h.{i}.ln_2.weight", (C,), "one"), (f"h.{i}.ln_2.bias", (C,), "zero"),
                    (f"h.{i}.mlp.c_fc.bias", (4 * C,), "zero"), (f"h.{i}.mlp.c_proj.bias", (C,), "zero")]
    return matrices + vectors + [("ln_f.weight", (C,), "one"), ("ln_f.bias", (C,), "zero")]


def philox(counter, stream, seed):
    """Philox 4x32-10 of counters (counter, stream, 0, 0): Salmon et al., SC11. Four arrays of 32-bit words."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(counter, np.uint64), np.full(len(counter), stream, np.uint64), np.zeros(len(counter), np.uint64),
         np.zeros(len(counter), np.uint64)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & mask, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def normal(n, stream, seed=SEED):
    """docs/kernels.md 9: Box-Muller on the top 24 bits of word pairs; float64."""
    out = np.empty((n // 4, 4))
    w = [(x >> np.uint64(8)).astype(np.float64) for x in philox(np.arange(n // 4), stream, seed)]
    for pair in (0, 2):
        r = np.sqrt(-2 * np.log((w[pair] + 0.5) * 2.0**-24))
        out[:, pair] = r * np.cos(2 * np.pi * w[pair + 1] * 2.0**-24)
        out[:, pair + 1] = r * np.sin(2 * np.pi * w[pair + 1] * 2.0**-24)
    return out.reshape(-1)


def weights():
    """The flat parameter buffer after initialisation from SEED, float32."""
    parts = []
    for stream, (_, shape, kind) in enumerate(layout()):
        n = math.prod(shape)
        if kind in ("one", "zero"):
            parts.append(np.full(n, 1.0 if kind == "one" else 0.0))
        else:
            parts.append(normal(n, stream) * (0.02 / math.sqrt(2 * L) if kind == "residual" else 0.02))
    return np.concatenate(parts).astype(np.float32)


def ids():
    """(B, T + 1) token ids, uint16, any old ones: 20 steps learn them by heart."""
    return (philox(np.arange(B * (T + 1)), 77, SEED)[0] % np.uint64(V)).astype(np.uint16).reshape(B, T + 1)


def rate(step):
    """Linear warm-up of 5 steps, then half a cosine to a tenth."""
    if step < 5:
        return LR * (step + 1) / 5
    return LR / 10 + (LR - LR / 10) * 0.5 * (1 + math.cos(math.pi * (step - 5) / (STEPS - 5)))


def scalars(step):
    return np.array([rate(step), 1 / (1 - BETA1**(step + 1)), 1 / (1 - BETA2**(step + 1))]).astype(np.float32)


def adam_gradient(step):
    """A flat gradient of norm about 3.7 (so that it is clipped), float32; the same for both sides."""
    n = sum(math.prod(shape) for _, shape, _ in layout())
    return (normal(n, 1000 + step) * 0.01).astype(np.float32)


def sample_indices(n):
    """Which elements of a tensor of n are compared with stored goldens."""
    if n <= SAMPLES:
        return np.arange(n)
    return np.unique((np.arange(SAMPLES, dtype=np.uint64) * 2654435761 + 12345) % np.uint64(n)).astype(np.int64)


def kept(name, n):
    """Mask of the elements that mean something: the key third of c_attn.bias has gradient zero in
    mathematics, what is stored is rounding noise (docs/kernels.md 11)."""
    mask = np.ones(n, bool)
    if name.endswith("c_attn.bias"):
        mask[C:2 * C] = False
    return mask


def tensors():
    """(name, slice of a flat buffer)"""
    at, out = 0, []
    for name, shape, _ in layout():
        out.append((name, slice(at, at + math.prod(shape))))
        at += math.prod(shape)
    return out
