#!/usr/bin/env python3
"""make_goldens.py [OUT]: one step, 20 losses and AdamW of the tiny model in PyTorch, float64.

Writes tests/golden/pytorch_tiny.json: losses, gradient norms, and of every tensor's gradient the norm, the largest
element and some hundred elements. With --full OUT.npz every element instead. Needs python3-torch (Debian's 1.13 does).
tests/mount/trainer_step.py compares the mount with it.
"""
import json
import math
import os
import sys

import numpy as np
import torch

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "golden"))
import pytorch_tiny as tiny  # noqa: E402
from pytorch_tiny import B, BETA1, BETA2, C, CLIP, DECAY, EPS, H, L, T, V  # noqa: E402


def parameters(flat):
    out = {}
    for (name, where), (_, shape, _) in zip(tiny.tensors(), tiny.layout()):
        out[name] = torch.tensor(flat[where].astype(np.float64).reshape(shape), requires_grad=True)
    return out


def norm(p, name, x):
    return torch.nn.functional.layer_norm(x, (C,), p[name + ".weight"], p[name + ".bias"], 1e-5)


def linear(p, name, x):
    return x @ p[name + ".weight"] + p[name + ".bias"]


def loss_of(p, ids):
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
    x = p["wte.weight"][ids[:, :-1]] + p["wpe.weight"]
    for i in range(L):
        h = linear(p, f"h.{i}.attn.c_attn", norm(p, f"h.{i}.ln_1", x))
        q, k, v = (part.view(B, T, H, C // H).transpose(1, 2) for part in h.split(C, dim=2))
        score = (q @ k.transpose(2, 3) / math.sqrt(C // H)).masked_fill(~mask, -math.inf)
        x = x + linear(p, f"h.{i}.attn.c_proj", (score.softmax(3) @ v).transpose(1, 2).reshape(B, T, C))
        h = torch.nn.functional.gelu(linear(p, f"h.{i}.mlp.c_fc", norm(p, f"h.{i}.ln_2", x)), approximate="tanh")
        x = x + linear(p, f"h.{i}.mlp.c_proj", h)
    logits = norm(p, "ln_f", x) @ p["wte.weight"].T
    return torch.nn.functional.cross_entropy(logits.view(-1, V), ids[:, 1:].reshape(-1))


def adamw(p):
    groups = [{"params": [t for t in p.values() if t.dim() == 2], "weight_decay": DECAY},
              {"params": [t for t in p.values() if t.dim() == 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1.0, betas=(BETA1, BETA2), eps=EPS)


def update(p, optimizer, step):
    """Clip, then step with the rate of @step, which the card gets as a float32. Return: gradient norm."""
    total = float(torch.nn.utils.clip_grad_norm_(list(p.values()), CLIP))
    for group in optimizer.param_groups:
        group["lr"] = float(tiny.scalars(step)[0])
    optimizer.step()
    return total


def flat(values):
    return np.concatenate([t.detach().numpy().ravel() for t in values])


def train():
    p = parameters(tiny.weights())
    ids = torch.tensor(tiny.ids().astype(np.int64))
    optimizer = adamw(p)
    losses, norms, first = [], [], None
    for step in range(tiny.STEPS):
        optimizer.zero_grad()
        loss = loss_of(p, ids)
        loss.backward()
        if first is None:
            first = flat([t.grad for t in p.values()])
        norms.append(update(p, optimizer, step))
        losses.append(float(loss.detach()))
    return losses, norms, first


def adam_only():
    """Change of every parameter in a few updates with given gradients."""
    start = tiny.weights()
    p = parameters(start)
    optimizer = adamw(p)
    for step in range(tiny.ADAM_STEPS):
        gradient = tiny.adam_gradient(step).astype(np.float64)
        for (name, where) in tiny.tensors():
            p[name].grad = torch.tensor(gradient[where].reshape(p[name].shape))
        update(p, optimizer, step)
    return flat(p.values()) - start.astype(np.float64)


def digest(values):
    """Norm, largest element and samples of each tensor."""
    out = {}
    for name, where in tiny.tensors():
        x = values[where]
        mask = tiny.kept(name, len(x))
        out[name] = {"norm": float(np.linalg.norm(x[mask])), "max": float(np.abs(x[mask]).max()),
                     "samples": [float(f"{v:.7g}") for v in x[tiny.sample_indices(len(x))]]}
    return out


def main():
    losses, norms, gradient = train()
    delta = adam_only()
    if len(sys.argv) > 2 and sys.argv[1] == "--full":
        np.savez(sys.argv[2], losses=losses, norms=norms, gradient=gradient, delta=delta)
        return
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "tests", "golden", "pytorch_tiny.json")
    with open(path, "w") as f:
        json.dump({"losses": losses, "norms": norms, "gradient": digest(gradient), "delta": digest(delta)}, f,
                  indent=0, separators=(",", ":"))
        f.write("\n")
    print(f"{path}: losses {losses[0]:.6f} ... {losses[-1]:.6f}, gradient norms {norms[0]:.4f} ... {norms[-1]:.4f}")


main()
