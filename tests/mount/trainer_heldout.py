#!/usr/bin/env python3
"""trainer_heldout.py CHECKPOINT LOG FOLDER: the held-out loss of a checkpoint in PyTorch, against the one in the log.

Own reader, own BPE from merges.txt, own split rule (under 20 documents: the last twentieth of the tokens).
"""
import hashlib
import json
import math
import os
import re
import sys

import numpy as np
import torch

path, log, folder = sys.argv[1:4]


def tensors(file):
    with open(file, "rb") as f:
        head = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    head.pop("__metadata__")
    return {k: torch.tensor(np.frombuffer(data[slice(*v["data_offsets"])], np.float32).reshape(v["shape"]).astype(np.float64))
            for k, v in head.items()}


def encoder():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in printable]
    letters = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(rest)}
    with open(os.path.join(path, "vocab.json")) as f:
        vocab = json.load(f)
    with open(os.path.join(path, "merges.txt"), encoding="utf-8") as f:
        ranks = {tuple(line.split()): i for i, line in enumerate(f.read().splitlines()[1:])}
    pattern = re.compile(rb"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z\x80-\xff]+| ?[0-9]+| ?[^\sA-Za-z0-9\x80-\xff]+|\s+(?!\S)|\s+")
    known = {}

    def word(w):
        if w not in known:
            parts = [letters[b] for b in w]
            while len(parts) > 1:
                best = min(zip(parts, parts[1:]), key=lambda p: ranks.get(p, math.inf))
                if best not in ranks:
                    break
                out, i = [], 0
                while i < len(parts):
                    pair = tuple(parts[i:i + 2]) == best
                    out.append("".join(parts[i:i + 2]) if pair else parts[i])
                    i += 2 if pair else 1
                parts = out
            known[w] = [vocab[p] for p in parts]
        return known[w]

    return lambda text: [i for w in pattern.findall(text) for i in word(w)] + [vocab["<|endoftext|>"]]


def documents():
    seen = set()
    for name in sorted(os.listdir(folder)):
        file = os.path.join(folder, name)
        if os.path.islink(file) or not os.path.isfile(file):
            continue
        with open(file, "rb") as f:
            text = f.read()
        if hashlib.sha256(text).digest() not in seen:
            seen.add(hashlib.sha256(text).digest())
            yield text


def forward(p, c, ids):
    rows, T, C, H = ids.shape[0], ids.shape[1], c["n_embd"], c["n_head"]
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool))

    def norm(name, x):
        return torch.nn.functional.layer_norm(x, (C,), p[name + ".weight"], p[name + ".bias"], c["layer_norm_epsilon"])

    def linear(name, x):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    x = p["wte.weight"][ids] + p["wpe.weight"][:T]
    for i in range(c["n_layer"]):
        q, k, v = (t.view(rows, T, H, C // H).transpose(1, 2) for t in linear(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", x)).split(C, 2))
        score = (q @ k.transpose(2, 3) / math.sqrt(C // H)).masked_fill(~mask, -math.inf)
        x = x + linear(f"h.{i}.attn.c_proj", (score.softmax(3) @ v).transpose(1, 2).reshape(rows, T, C))
        h = torch.nn.functional.gelu(linear(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", x)), approximate="tanh")
        x = x + linear(f"h.{i}.mlp.c_proj", h)
    return norm("ln_f", x) @ p["wte.weight"].T


def main():
    with open(os.path.join(path, "config.json")) as f:
        c = json.load(f)
    with open(os.path.join(path, "trainer.json")) as f:
        batch = json.load(f)["model"]["batch"]
    encode, T = encoder(), c["n_positions"]
    stream = [i for text in documents() for i in encode(text)]
    held = stream[len(stream) - len(stream) // 20:]
    rows = min(len(held) // T, 64)
    rows = (rows + batch - 1) // batch * batch
    windows = torch.tensor([[held[(r * T + i) % len(held)] for i in range(T + 1)] for r in range(rows)])
    logits = forward(tensors(os.path.join(path, "model.safetensors")), c, windows[:, :-1])
    mine = float(torch.nn.functional.cross_entropy(logits.reshape(-1, c["vocab_size"]), windows[:, 1:].reshape(-1)))
    with open(log) as f:
        logged = [json.loads(line)["eval_loss"] for line in f if "eval_loss" in line][-1]
    good = abs(mine - logged) <= 1e-5 * mine
    print("ok     " if good else "FAILED ", f"held-out loss of the checkpoint: PyTorch {mine:.6f}, the trainer said {logged:.6f}")
    sys.exit(not good)


main()
