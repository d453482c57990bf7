"""Rules about the repository that no compiler checks: what may include what, what is linked, where model names may stand."""
import re, subprocess
from common import *

files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True).stdout.split() or [
    os.path.relpath(os.path.join(d, f), ROOT) for d, _, names in os.walk(ROOT) for f in names if "/build/" not in d + "/" and "/.git/" not in d + "/"]
sources = [f for f in files if f.endswith((".cpp", ".h", ".td"))]


def matches(pattern, names):
    found = []
    for name in names:
        path = os.path.join(ROOT, name)
        if not os.path.exists(path): continue
        with open(path, errors="replace") as f:
            found += [f"{name}:{i}: {line.strip()}" for i, line in enumerate(f, 1) if re.search(pattern, line)]
    return found


def none(what, found): check(what, not found, "; ".join(found[:3]))


none("runtime/ and support/ include nothing from compiler/ or dialects/",
     matches(r'#include "(compiler|dialects)/', [f for f in sources if f.startswith(("runtime/", "support/"))]))
none("compiler/codegen names no model and no model op",
     matches(r"(?i)kda|attn_res|latent_moe|kimi", [f for f in files if f.startswith("compiler/codegen/")]))
none("no file of source has more than 600 lines",
     [f for f in sources if os.path.exists(os.path.join(ROOT, f)) and sum(1 for _ in open(os.path.join(ROOT, f), errors="replace")) > 600])
none("every source file begins with the banner and the licence",
     [f for f in sources if os.path.exists(os.path.join(ROOT, f))
      and "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in open(os.path.join(ROOT, f), errors="replace").read(700)])
none("nothing that a tool wrote lies at the top", [f for f in files if "/" not in f and not f.startswith(".") and f not in
     ("CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md")])
ninja = os.path.join(os.path.dirname(BIN), "build.ninja")
if os.path.exists(ninja):
    with open(ninja) as f: none("no archive of MLIR on a link line", re.findall(r"libMLIR[A-Z][A-Za-z]*\.a", f.read()))
finish()
