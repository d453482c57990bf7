"""k3 run and k3 inspect as tools: damaged plans, memory against the budget, speed, and what is refused."""
import random, re, xml.etree.ElementTree
from common import *

os.makedirs(WORK, exist_ok=True)
plan = os.path.join(WORK, "tiny.k3plan")
compiled = min(compile_to(plan, TINY).seconds for _ in range(2))
if not SANITIZED:
    check("k3-tiny compiles in 15 s", compiled <= 15, f"{compiled:.1f} s")
with open(plan, "rb") as f: data = f.read()

# ------------------------------------------------------------------------------------ damaged files, every section
header_end, rng = 64, random.Random(7)
flatbuffer_end = data.find(b"\x7fELF")
sections = {"header": (0, header_end), "flatbuffer": (header_end, flatbuffer_end), "image": (flatbuffer_end, len(data))}
damaged = os.path.join(WORK, "damaged.k3plan")
for name, (begin, end) in sections.items():
    bad = []
    places = range(begin, end) if end - begin <= 64 else sorted(rng.sample(range(begin, end), 80))
    for at in places:
        with open(damaged, "wb") as f: f.write(data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:])
        r = run("k3", "inspect", damaged)
        if r.returncode != 2 or len(r.stderr.strip().splitlines()) != 1: bad.append((at, r.returncode, r.stderr[-200:]))
    check(f"a flipped bit in the {name} is refused in one sentence ({len(places)} places)", not bad, str(bad[:2]) if bad else "")
bad = []
for size in sorted({0, 1, 63, 64, 65, flatbuffer_end - 1, flatbuffer_end, len(data) - 1} | {rng.randrange(len(data)) for _ in range(30)}):
    with open(damaged, "wb") as f: f.write(data[:size])
    r = run("k3", "run", damaged, "--weights", TINY, "--prompt-ids", "1")
    if r.returncode != 2 or r.stdout: bad.append((size, r.returncode, r.stderr[-200:]))
check("a cut plan is refused at every length", not bad, str(bad[:2]) if bad else "")

# --------------------------------------------------------------------------------------------------- memory and speed
speeds = []
for _ in range(1 if SANITIZED else 5):
    r = run("k3", "run", plan, "--weights", TINY, "--prompt", "What is KDA?")
    speeds.append(float(re.search(r"decode: .* ([\d.]+) tokens/s", r.stderr).group(1)))
budget = int(re.search(r"sum +(\d+) B", r.stderr).group(1))
peak = float(re.search(r"peak memory: ([\d.]+) MiB", r.stderr).group(1)) * 2**20
if not SANITIZED:
    check("k3-tiny decodes 1,000 tokens a second", max(speeds) >= 1000, f"best of {len(speeds)}: {max(speeds):.0f}")
    check("peak memory within the budget and 64 MB", peak <= budget + 64e6, f"peak {peak:.0f}, budget {budget}")

# ------------------------------------------------------------------------------------------------------ random weights
answers = [run("k3", "run", plan, "--weights", seed, "--prompt-ids", "1,2,3", "--max-new-tokens", "8", "--threads", threads)
           for seed, threads in (("random:7", "1"), ("random:7", "3"), ("random:8", "1"))]
check("random weights answer", all(r.returncode == 0 and len(r.stdout.split(",")) == 8 for r in answers))
check("random weights do not depend on threads", answers[0].stdout == answers[1].stdout)
check("random weights depend on the seed", answers[0].stdout != answers[2].stdout)

# --------------------------------------------------------------------------------------------------------------- bench
seats = os.path.join(WORK, "seats.k3plan")
compile_to(seats, TINY, "--max-seqs", "3", "--max-context", "64")
report, picture = os.path.join(WORK, "bench.json"), os.path.join(WORK, "bench.svg")
r = run("k3", "bench", seats, "--weights", "random:7", "--batch", "1,3", "--context", "1,20", "--new-tokens", "4", "--repeats", "2",
        "--prefill-chunk", "16", "--json", report, "--plot", picture)
with open(report) as f: numbers = json.load(f)
rows = [line.split()[:2] for line in r.stdout.splitlines()[1:]]
check("bench prints a line a case", r.returncode == 0 and rows == [["1", "1"], ["1", "20"], ["3", "1"], ["3", "20"]], r.stderr[-160:] if r.returncode else "")
check("bench writes what it measured", [(c["batch"], c["context"], c["token_s"]["steps"]) for c in numbers["cases"]] ==
      [(1, 1, 6), (1, 20, 6), (3, 1, 6), (3, 20, 6)] and all(c["tokens_per_s"]["least"] > 0 for c in numbers["cases"])
      and numbers["weights"] == "random:7" and numbers["plan"] == "seats.k3plan")
check("bench draws it", xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg"))
r = run("k3", "bench", seats, "--weights", "random:7", "--batch", "4")
check("bench refuses a batch that does not fit", r.returncode == 2 and not r.stdout and "--batch: the plan takes 1 to 3 sequences (got 4)" in r.stderr)

# ------------------------------------------------------------------------------------------------------------ refusals
def refused(what, status, *args):
    r = run("k3", "run", plan, *args)
    check(what, r.returncode == status and not r.stdout and r.stderr, f"exit {r.returncode}: {r.stderr[-160:]!r}" if r.returncode != status else "")

refused("neither prompt nor ids", 2, "--weights", TINY)
refused("prompt and ids together", 2, "--weights", TINY, "--prompt", "x", "--prompt-ids", "1")
refused("an id past the vocabulary", 2, "--weights", TINY, "--prompt-ids", "1,512")
refused("no such weights folder", 2, "--weights", os.path.join(WORK, "nothing"), "--prompt-ids", "1")
refused("random weights without a seed", 2, "--weights", "random:", "--prompt-ids", "1")
refused("text without a tokenizer", 2, "--weights", "random:1", "--prompt", "x")
refused("a memory limit that is too small", 1, "--weights", TINY, "--prompt-ids", "1", "--memory", "1000000")
refused("a piece longer than the step", 2, "--weights", TINY, "--prompt-ids", "1", "--prefill-chunk", "100000")
finish()
