"""k3c as a tool: every configuration ends as its table says, output is reproducible, the full K3 stays within its limits."""
import csv, gzip, shutil
from common import *

os.makedirs(WORK, exist_ok=True)
plan = os.path.join(WORK, "out.k3plan")

# ------------------------------------------------------------------------------------------- every configuration
CONFIGS = os.path.join(ROOT, "tests/data/configs")
K3 = os.path.join(ROOT, "model-defs/kimi_k3/config.json")
with open(os.path.join(CONFIGS, "expected.tsv")) as f:
    for row in list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]:
        name, outcome, words = row[:3]
        path = K3 if name.startswith("../") else os.path.join(CONFIGS, name)
        if os.path.exists(plan): os.remove(plan)
        r = run("k3c", path, "-o", plan, "--target", "cpu", "--emit=plan")
        said = all(any(w in r.stderr for w in group.split("|")) for group in words.split("&")) if words else True
        ok = r.returncode == (0 if outcome == "compiles" else 2) and said and os.path.exists(plan) == (outcome == "compiles")
        check(f"{name} {outcome}", ok, "" if ok else f"exit {r.returncode}, wanted {words!r} in {r.stderr[-300:]!r}")

# ------------------------------------------------------------------------------------------------ reproducibility
bytes_of = {}
for folder in ("one", "another/deeper"):
    place = os.path.join(WORK, folder)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(TINY, os.path.join(place, "model"))
    run("k3c", "model", "-o", "x.k3plan", "--target", "cpu", cwd=place)
    with open(os.path.join(place, "x.k3plan"), "rb") as f: bytes_of[folder] = f.read()
check("the same model in two folders gives the same bytes", len(set(bytes_of.values())) == 1)
compile_to(plan, K3)
compile_to(plan + ".bom", os.path.join(CONFIGS, "bad/bom.json"))
a, b = (json.loads(run("k3", "inspect", "--json", p).stdout) for p in (plan, plan + ".bom"))
for j in (a, b): j.get("model", {}).pop("config_hash", None); j.pop("file", None)
check("a byte order mark changes nothing but the hash", a == b)

# ----------------------------------------------------------------------------------------- the full official model
folder = os.path.join(WORK, "k3")
os.makedirs(folder, exist_ok=True)
shutil.copy(K3, folder)
with gzip.open(os.path.join(ROOT, "tests/data/kimi-k3/model.safetensors.index.json.gz")) as f:
    with open(os.path.join(folder, "model.safetensors.index.json"), "wb") as g: shutil.copyfileobj(f, g)
r = run("k3c", folder, "-o", plan, "--target", "cpu", "--emit=plan")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
check("full K3 compiles", r.returncode == 0, r.stderr[-200:] if r.returncode else f"{r.seconds:.1f} s, {peak:.2f} GB")
if not SANITIZED:
    check("full K3 within 60 s and 2 GB", r.seconds <= 60 and peak <= 2, f"{r.seconds:.1f} s, {peak:.2f} GB")
inspected = json.loads(run("k3", "inspect", "--json", plan).stdout)
missing = [k for k in ("producer", "target", "ranks", "limits", "entries", "kernels", "weights") if k not in inspected]
check("inspect --json has the promised keys", not missing, ", ".join(missing))

# ----------------------------------------------------------------------------------------------------- exit statuses
check("an unknown flag is a wrong command line", run("k3c", TINY, "--frobnicate").returncode == 2)
check("an unknown phase is refused", run("k3c", TINY, "--compile-to", "nowhere").returncode == 2)
check("a missing model is refused", run("k3c", os.path.join(WORK, "nothing-here")).returncode == 2)
check("help is no error", run("k3c", "--help").returncode == 0 and run("k3", "--help").returncode == 0)
finish()
