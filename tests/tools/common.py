"""What the tests of the command line tools share: paths, runs, reports."""
import json, os, resource, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/bin")
WORK = sys.argv[2] if len(sys.argv) > 2 else "/tmp/k3-tools-test"
TINY = os.path.join(ROOT, "examples/k3-tiny")
SANITIZED = os.environ.get("K3_SANITIZED") == "1"

failures = 0


def check(what, ok, detail=""):
    """Prints one line a check; the number of failures is the exit status."""
    global failures
    failures += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {what}{': ' + detail if detail else ''}", flush=True)


def run(tool, *args, **kw):
    start = time.monotonic()
    result = subprocess.run([os.path.join(BIN, tool), *map(str, args)], capture_output=True, text=True, errors="replace",
                            timeout=600, **kw)
    result.seconds = time.monotonic() - start
    return result


def compile_to(plan, model, *args):
    target = () if "--target" in args else ("--target", "cpu")
    result = run("k3c", model, "-o", plan, *target, *args)
    if result.returncode:
        raise SystemExit(f"k3c {model}: exit {result.returncode}: {result.stderr}")
    return result


def finish():
    print(f"{failures} checks failed")
    sys.exit(1 if failures else 0)
