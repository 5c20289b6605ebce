#!/usr/bin/env python3
"""trainer_step.py MOUNT TRAINER KERNELS GOLDEN: train the tiny model through the files by hand and compare with PyTorch.

GOLDEN is tests/golden/pytorch_tiny.json, or an .npz of scripts/make_goldens.py --full with every element. Checks weights from a
seed, one step (loss, all gradients), AdamW on given gradients, and 20 losses. numpy and the standard library only.
"""
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import pytorch_tiny as tiny  # noqa: E402

mount, trainer, kernels, golden_path = sys.argv[1:5]
failures = 0


def say(good, text):
    global failures
    failures += not good
    print("ok     " if good else "FAILED ", text, flush=True)


def node(*names):
    return os.path.join(mount, *names)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read_buffer(name):
    with open(node("buffers", name), "rb") as f:
        return np.frombuffer(f.read(), np.float32)


def write_buffer(name, values):
    with open(node("buffers", name), "r+b", buffering=0) as f:
        data = np.ascontiguousarray(values, np.float32).tobytes()
        for at in range(0, len(data), 65536):
            f.seek(at)
            assert f.write(data[at:at + 65536]) == len(data[at:at + 65536])


def plan(kind):
    return json.loads(subprocess.check_output([trainer, "plan", kind, "--preset", "tiny", "--seed", str(tiny.SEED)]))


class Plan:
    """A resident plan; run() gives records and takes losses."""

    def __init__(self, name, description):
        self.name = name
        write(node("plans", name + ".json"), json.dumps(description).encode())
        self.run_fd = os.open(node("plans", name, "run"), os.O_RDWR)
        self.has_input = "input" in description
        if self.has_input:
            self.input_fd = os.open(node("plans", name, "input"), os.O_WRONLY)

    def run(self, records):
        os.write(self.run_fd, b"%d\n" % len(records))
        for record in records:
            if self.has_input:
                assert os.write(self.input_fd, record) == len(record)
        answer = b""
        while True:
            part = os.read(self.run_fd, 65536)
            if not part:
                break
            answer += part
        last = json.loads(answer.decode().splitlines()[-1])
        assert last["ok"] and last["steps"] == len(records), last

    def losses(self):
        return np.loadtxt(node("plans", self.name, "loss"), ndmin=2)[:, 1]

    def close(self):
        os.close(self.run_fd)
        if self.has_input:
            os.close(self.input_fd)
        os.unlink(node("plans", self.name + ".json"))


def record(step):
    return tiny.scalars(step).tobytes() + tiny.ids().tobytes()


class Golden:
    """Values of flat buffers from either form of goldens: (tensor, indices, expected, largest)."""

    def __init__(self, path):
        if path.endswith(".npz"):
            self.full = np.load(path)
            self.losses, self.norms = self.full["losses"], self.full["norms"]
        else:
            self.full = None
            with open(path) as f:
                self.part = json.load(f)
            self.losses, self.norms = np.array(self.part["losses"]), np.array(self.part["norms"])

    def tensors(self, what):
        for name, where in tiny.tensors():
            n = where.stop - where.start
            if self.full is not None:
                index, want = np.arange(n), self.full[what][where]
                top, length = np.abs(want[tiny.kept(name, n)]).max(), np.linalg.norm(want[tiny.kept(name, n)])
            else:
                index, g = tiny.sample_indices(n), self.part[what][name]
                want, top, length = np.array(g["samples"]), g["max"], g["norm"]
            keep = tiny.kept(name, n)[index]
            yield name, where, index[keep], want[keep], top, length


def check_weights():
    init = Plan("init", plan("init"))
    init.run([b""])
    init.close()
    got, want = read_buffer("trainer.params"), tiny.weights()
    # 2^-24 of the largest weights, about six deviations
    worst = np.abs(got.astype(np.float64) - want).max()
    say(worst <= 1e-6, f"weights from the seed: largest difference {worst:.3g} (0.02 is the deviation)")
    say(not read_buffer("trainer.m").any() and not read_buffer("trainer.v").any(), "moments start at zero")


def check_gradients(golden):
    got = read_buffer("trainer.grads").astype(np.float64)
    worst, place, elements = 0, "", 0
    for name, where, index, want, top, length in golden.tensors("gradient"):
        ratio = np.abs(got[where][index] - want) / (1e-4 * np.abs(want) + 1e-5 * top)
        mine = np.linalg.norm(got[where][tiny.kept(name, where.stop - where.start)])
        ratio = np.append(ratio, abs(mine - length) / (1e-4 * length))
        elements += len(index)
        if ratio.max() > worst:
            worst, place = ratio.max(), name
    say(worst <= 1, f"gradients: {elements} elements and {len(tiny.tensors())} norms, worst {worst:.3f} of the tolerance ({place})")


def check_adamw(golden):
    description = plan("train")
    description["steps"] = [s for s in description["steps"] if s == "barrier" or s["kernel"].startswith("reduce:grad")]
    del description["check"]["loss"]
    adam = Plan("adam", description)
    start = tiny.weights()
    write_buffer("trainer.params", start)
    write_buffer("trainer.m", np.zeros(len(start)))
    write_buffer("trainer.v", np.zeros(len(start)))
    for step in range(tiny.ADAM_STEPS):
        write_buffer("trainer.grads", tiny.adam_gradient(step))
        adam.run([record(step)])
    adam.close()
    got = read_buffer("trainer.params").astype(np.float64)
    worst, place = 0, ""
    for name, where, index, want, top, _ in golden.tensors("delta"):
        # a parameter is rounded to float32 with every update
        rounding = tiny.ADAM_STEPS * 2.0**-24 * np.abs(got[where][index])
        ratio = np.abs(got[where][index] - start[where][index] - want) / (1e-4 * np.abs(want) + 1e-5 * top + rounding)
        if ratio.max() > worst:
            worst, place = ratio.max(), name
    say(worst <= 1, f"AdamW on identical gradients, {tiny.ADAM_STEPS} updates: worst {worst:.3f} of the tolerance ({place})")


def check_steps(golden):
    train = Plan("step", plan("train"))
    write_buffer("trainer.params", tiny.weights())
    write_buffer("trainer.m", np.zeros(len(tiny.weights())))
    write_buffer("trainer.v", np.zeros(len(tiny.weights())))
    train.run([record(0)])
    loss = train.losses()[0]
    say(abs(loss - golden.losses[0]) <= 1e-5 * golden.losses[0], f"loss of one step: {loss:.7f}, PyTorch {golden.losses[0]:.7f}")
    check_gradients(golden)
    train.run([record(step) for step in range(1, tiny.STEPS)])
    losses = train.losses()
    worst = np.abs(losses / golden.losses - 1).max()
    say(worst <= 1e-4, f"{tiny.STEPS} losses, {losses[0]:.4f} to {losses[-1]:.4f}: largest relative difference {worst:.2e}")
    train.close()


def main():
    for name in ("matmul", "attention", "layernorm", "embed", "cross_entropy", "reduce", "adamw", "init"):
        with open(os.path.join(kernels, name + ".co"), "rb") as f:
            write(node("kernels", name + ".co"), f.read())
    floats = len(tiny.weights())
    description = plan("train")
    places = {}
    for text in json.dumps(description).split('"'):
        if text.startswith("trainer."):
            name, _, at = text.partition("+")
            places[name] = max(places.get(name, 0), int(at or 0))
    for name in list(places) + ["trainer.m", "trainer.v"]:
        size = 4 * floats if name.split(".")[1] in ("params", "grads", "m", "v") else places[name] + (4 << 20)
        with open(node("buffers", name), "wb") as f:
            f.truncate(size)
    golden = Golden(golden_path)
    check_weights()
    check_adamw(golden)
    check_steps(golden)
    sys.exit(failures != 0)


main()
