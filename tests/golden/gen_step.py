#!/usr/bin/env python3
"""Golden values for tests/kernels/test_step.c: one step and twenty of a very small GPT-2 in PyTorch, float64.

Weights and ids come from an integer hash that the test computes too; only results are stored.
Writes step.golden beside this file: little endian, float64 losses[20] and gradient norms[20], then float32 gradients of step 1 in the order
of the flat parameter array. Usage: /usr/bin/python3 gen_step.py
"""
import math
import os
import struct

import numpy as np
import torch

B, T, C, H, L, V = 2, 64, 32, 2, 2, 83
STEPS, LR, BETA1, BETA2, EPS, DECAY, CLIP = 20, 3e-3, 0.9, 0.95, 1e-8, 0.1, 0.5


def mix(index):
    x = (np.asarray(index, dtype=np.uint64) * 2654435761 + 12345) & 0xFFFFFFFF
    x ^= x >> 15
    x = (x * 2246822519) & 0xFFFFFFFF
    x ^= x >> 13
    x = (x * 3266489917) & 0xFFFFFFFF
    return x ^ (x >> 16)


def shapes():
    """(name, shape, offset of the values) in flat order: matrices first, they decay."""
    out = [("wte", (V, C), 0), ("wpe", (T, C), 0)]
    for i in range(L):
        out += [(f"{i}.attn", (C, 3 * C), 0), (f"{i}.attn_proj", (C, C), 0), (f"{i}.fc", (C, 4 * C), 0), (f"{i}.fc_proj", (4 * C, C), 0)]
    for i in range(L):
        out += [(f"{i}.ln1_g", (C,), 1), (f"{i}.ln1_b", (C,), 0), (f"{i}.attn_b", (3 * C,), 0), (f"{i}.attn_proj_b", (C,), 0),
                (f"{i}.ln2_g", (C,), 1), (f"{i}.ln2_b", (C,), 0), (f"{i}.fc_b", (4 * C,), 0), (f"{i}.fc_proj_b", (C,), 0)]
    return out + [("lnf_g", (C,), 1), ("lnf_b", (C,), 0)]


def parameters():
    params, at = {}, 0
    for name, shape, offset in shapes():
        n = math.prod(shape)
        values = ((mix(np.arange(at, at + n)) & 0xFFFF).astype(np.float64) - 32768) * 2.0**-18 + offset
        params[name] = torch.tensor(values.reshape(shape), requires_grad=True)
        at += n
    return params


def norm(x, g, b):
    return torch.nn.functional.layer_norm(x, (C,), g, b, 1e-5)


def loss_of(p, ids):
    x = p["wte"][ids[:, :-1]] + p["wpe"]
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
    for i in range(L):
        h = norm(x, p[f"{i}.ln1_g"], p[f"{i}.ln1_b"]) @ p[f"{i}.attn"] + p[f"{i}.attn_b"]
        q, k, v = (part.view(B, T, H, C // H).transpose(1, 2) for part in h.split(C, dim=2))
        score = (q @ k.transpose(2, 3) / math.sqrt(C // H)).masked_fill(~mask, -math.inf)
        h = (score.softmax(3) @ v).transpose(1, 2).reshape(B, T, C)
        x = x + h @ p[f"{i}.attn_proj"] + p[f"{i}.attn_proj_b"]
        h = norm(x, p[f"{i}.ln2_g"], p[f"{i}.ln2_b"]) @ p[f"{i}.fc"] + p[f"{i}.fc_b"]
        x = x + torch.nn.functional.gelu(h, approximate="tanh") @ p[f"{i}.fc_proj"] + p[f"{i}.fc_proj_b"]
    logits = norm(x, p["lnf_g"], p["lnf_b"]) @ p["wte"].T
    return torch.nn.functional.cross_entropy(logits.view(-1, V), ids[:, 1:].reshape(-1))


def main():
    p = parameters()
    ids = torch.tensor((mix(np.arange(1000000, 1000000 + B * (T + 1))) % V).astype(np.int64)).view(B, T + 1)
    matrices = [t for t in p.values() if t.dim() == 2]
    vectors = [t for t in p.values() if t.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=LR, betas=(BETA1, BETA2), eps=EPS)
    losses, norms, first = [], [], None
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(p, ids)
        loss.backward()
        if first is None:
            first = np.concatenate([p[name].grad.numpy().ravel() for name, _, _ in shapes()])
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(p.values()), CLIP)))
        losses.append(float(loss.detach()))
        optimizer.step()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "step.golden")
    with open(path, "wb") as f:
        f.write(struct.pack(f"<{2 * STEPS}d", *losses, *norms))
        f.write(first.astype("<f4").tobytes())
    print("losses", losses[0], "...", losses[-1], "norms", norms[0], norms[-1], "parameters", len(first))


main()
