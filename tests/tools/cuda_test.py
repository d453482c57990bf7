"""k3 on a GPU as a tool, on the emulated one: what is refused on which machine, and weights without a checkpoint."""
import ctypes
from common import *

EMULATOR = os.path.join(os.path.dirname(BIN.rstrip("/")), "tests", "emulator")
os.makedirs(WORK, exist_ok=True)
GPU = ("--target", "sm_90a", "--nvrtc", os.path.join(EMULATOR, "libk3_emulated_nvrtc.so"))
plan, exact, host = (os.path.join(WORK, f"tiny-{name}.k3plan") for name in ("gpu", "gpu-f32", "cpu-f32"))
compile_to(plan, TINY, *GPU)
compile_to(exact, TINY, *GPU, "--dtype", "f32")
compile_to(host, TINY, "--dtype", "f32")


def on_gpu(*args, **machine):
    return run("k3", *args, env={**os.environ, "LD_LIBRARY_PATH": EMULATOR, **machine})


def refused(what, status, sentence, result):
    last = result.stderr.strip().splitlines()[-1:]
    check(what, result.returncode == status and not result.stdout and last == ["error: " + sentence],
          "" if last == ["error: " + sentence] else f"exit {result.returncode}: {result.stderr[-300:]!r}")


# ------------------------------------------------------------------------------------------------------ the machine
prompt = ("run", plan, "--weights", "random:7", "--prompt-ids", "1,2,3", "--max-new-tokens", "3")
refused("a driver without a GPU", 1, "cuda: this machine has a driver but no GPU that it can use; see nvidia-smi, or rebuild the plan with --target cpu",
        on_gpu(*prompt, K3_EMULATED_GPUS="0"))
refused("an old driver", 1, "cuda: the NVIDIA driver is too old (got CUDA 11.8, expected at least 12.0); update it or rebuild the plan with --target cpu",
        on_gpu(*prompt, K3_EMULATED_DRIVER="11080"))
refused("another GPU", 2, "cuda: the plan is for another GPU (got an emulated GPU, which is sm_80, expected sm_90a); rebuild it with --target for this one",
        on_gpu(*prompt, K3_EMULATED_ARCH="80"))
refused("a GPU that is too small", 1, "weights: cannot allocate 3599040 bytes on an emulated GPU; free memory of the GPU or compile a smaller plan",
        on_gpu(*prompt, K3_EMULATED_MEMORY_MIB="1"))
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    refused("no driver", 1, "cuda: this machine has no NVIDIA driver (libcuda.so.1 was not found); install it or rebuild the plan with --target cpu",
            run("k3", *prompt))

# ------------------------------------------------------------------------------------------------------ random weights
# In f32: what bf16 rounds away depends on the order of sums, and random logits lie close together.
here, there = run("k3", "run", host, *prompt[2:]), on_gpu("run", exact, *prompt[2:])
check("random weights are those of the CPU", here.returncode == 0 and len(here.stdout.split(",")) == 3 and here.stdout == there.stdout,
      f"{here.stdout.strip()} {there.stdout.strip()}")

# --------------------------------------------------------------------------------------------------------------- bench
report = os.path.join(WORK, "bench.json")
r = on_gpu("bench", plan, "--weights", "random:7", "--context", "3", "--new-tokens", "3", "--repeats", "1", "--json", report)
with open(report) as f: numbers = json.load(f)
check("bench measures a GPU plan", r.returncode == 0 and len(r.stdout.splitlines()) == 2 and numbers["device"] == "an emulated GPU"
      and numbers["threads"] is None and numbers["cases"][0]["host_s_per_step"] > 0, r.stderr[-160:] if r.returncode else "")
finish()
