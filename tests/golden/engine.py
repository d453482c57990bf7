# ===- engine.py - The compiler and the runtime as the tests see them -----===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# Calls `k3c` and `k3` by their command lines only, and reads and writes the safetensors files that they exchange.
# Nothing here knows what a right number is.
#
# ===----------------------------------------------------------------------===#
import json
import os
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests", "oracle"))

NUMPY_TYPES = {"F32": np.float32, "I32": np.int32, "U8": np.uint8}


def write_tensors(path, tensors):
    """A safetensors file of float32, int32 and byte arrays, in the order given."""
    head, parts, at = {}, [], 0
    for name, value in tensors.items():
        value = np.ascontiguousarray(value)
        kind = {"f": "F32", "i": "I32", "u": "U8"}[value.dtype.kind]
        value = value.astype(NUMPY_TYPES[kind])
        head[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        parts.append(value.tobytes())
        at += value.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + size])
    head.pop("__metadata__", None)
    out = {}
    for name, entry in head.items():
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + size + begin : 8 + size + end], NUMPY_TYPES[entry["dtype"]])
        out[name] = raw.reshape(entry["shape"])
    return out


class Engine:
    """The tools of one build folder, with a folder of their own to write to.

    `machine` is what plans are compiled for and run on: "cpu"; "schedule", the CPU with the kernels of a GPU; or
    "emulated", a GPU played by tests/emulator, its threads in an order that differs from block to block."""

    GPU = "sm_90a"

    def __init__(self, bin_dir, work, machine="cpu"):
        self.k3c, self.k3 = os.path.join(bin_dir, "k3c"), os.path.join(bin_dir, "k3")
        self.work = work
        self.dumps = 0
        os.makedirs(work, exist_ok=True)
        emulator = os.path.join(os.path.dirname(bin_dir), "tests", "emulator")
        self.target = {
            "cpu": ["--target", "cpu"],
            "schedule": ["--target", "cpu", "--schedule", self.GPU],
            "emulated": ["--target", self.GPU, "--nvrtc", os.path.join(emulator, "libk3_emulated_nvrtc.so")],
        }[machine]
        self.environment = {**os.environ, "K3_POISON": "1"}
        if machine == "emulated":
            self.environment |= {"LD_LIBRARY_PATH": emulator, "K3_EMULATED_ORDER": "17", "K3_CACHE": self.path("cache")}

    def path(self, name):
        return os.path.join(self.work, name)

    def call(self, command, expect=0):
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        if done.returncode != expect:
            raise AssertionError(
                f"{' '.join(command)}\nexit status {done.returncode}, expected {expect}\n{done.stderr[-4000:]}"
            )
        return done

    def compile(self, model, name, dtype, *options):
        plan = self.path(name + ".k3plan")
        self.call([self.k3c, model, "-o", plan, *self.target, "--dtype", dtype, *map(str, options)])
        return plan

    def run(self, plan, weights, ids, new=1, chunk=None):
        """Feeds ids, generates `new` tokens whatever they are, and returns the dump."""
        self.dumps += 1
        dump = self.path(f"dump{self.dumps}.safetensors")
        command = [self.k3, "run", plan, "--weights", weights, "--prompt-ids", ",".join(map(str, ids))]
        command += ["--max-new-tokens", str(new), "--ignore-eos", "--print-ids", "--dump", dump]
        if chunk:
            command += ["--prefill-chunk", str(chunk)]
        done = self.call(command)
        out = read_tensors(dump)
        os.remove(dump)
        printed = [int(i) for i in done.stdout.split(",") if i.strip()]
        fed = len(ids) + new - 1
        assert list(out["ids"]) == list(ids) + printed, f"the dump has other ids than printed: {done.stdout}"
        assert len(printed) == new and len(out["logits"]) == fed, f"logits {out['logits'].shape}, fed {fed} ids"
        return out

    def entry(self, plan, name, inputs):
        """Runs one entry of a plan alone."""
        self.dumps += 1
        given, dump = self.path(f"in{self.dumps}.safetensors"), self.path(f"out{self.dumps}.safetensors")
        write_tensors(given, inputs)
        self.call([self.k3, "run", plan, "--entry", name, "--inputs", given, "--dump", dump])
        out = read_tensors(dump)
        os.remove(given)
        os.remove(dump)
        return out


class Report:
    """Collects what failed, so that one run of a test shows everything that is wrong."""

    def __init__(self):
        self.failures = []

    def check(self, what, good, detail=""):
        good = bool(good)
        print(f"{'ok  ' if good else 'FAIL'}  {what}{': ' if detail else ''}{detail}", flush=True)
        if not good:
            self.failures.append(what)

    def bound(self, what, value, limit):
        self.check(what, value <= limit, f"{value:.2e} (limit {limit:.2e})")

    def finish(self):
        if self.failures:
            print(f"{len(self.failures)} failed:")
            for what in self.failures:
                print("  " + what)
        sys.exit(1 if self.failures else 0)
