# Configuration of the lit tests. They live beside the code they test and are found by discovery over the whole
# repository. What a machine offers beyond the build (a GPU, NVRTC, wide vectors) becomes a feature, so that a test that
# needs it is reported as unsupported and never as passed. (Under lit's own name, lit.cfg.py, this folder would be taken
# for a nested suite during discovery.)
import ctypes
import glob
import os
import sys

import lit.formats

config.name = "k3"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["build", "Inputs", ".git", ".cache"]
config.test_source_root = config.k3_source_dir
config.test_exec_root = os.path.join(config.k3_binary_dir, "tests", "lit")

# Our tools come first, so that an installed k3 is never tested by accident.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.k3_binary_dir, "bin"), config.llvm_tools_dir, config.environment["PATH"]]
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%k3_src", config.k3_source_dir))


def loads(*names):
    """Whether one of the shared libraries can be opened."""
    for name in names:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            continue
    return False


def cpu_flags():
    """Instruction sets of the first core; empty where the system does not say."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":")[1].split() for line in lines if line.startswith("flags")), [])
    except OSError:
        return []


if glob.glob("/dev/nvidia[0-9]*") and loads("libcuda.so.1"):
    config.available_features.add("cuda")
if loads("libnvrtc.so.13", *sorted(glob.glob("/usr/local/cuda*/lib*/libnvrtc.so.13"))):
    config.available_features.add("nvrtc")
for flag in ("avx2", "avx512f"):
    if flag in cpu_flags():
        config.available_features.add(flag)
if config.k3_sanitize:
    config.available_features.add("sanitizer")

# Tests that open a device must not share it: a folder of such tests sets config.parallelism_group to this group.
lit_config.parallelism_groups["device"] = 1

# What scripts/test.sh sets for the sanitizer build has to reach the tools.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
