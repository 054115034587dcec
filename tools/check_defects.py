"""Put each defect of tests/defects/defects.yaml into a copy of the tree, and see a test notice it.

    .venv/bin/python tools/check_defects.py [WORD...]

Only defects whose line has one of the words, if any are given. Prints a table; exits with 1 if a
defect is not noticed, or if a test fails without one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "defects" / "defects.yaml"
#: What `make test` runs in parallel; a defect is not to need more to be noticed.
IN_CI = "not matrix and not soak and not kubernetes and not quiet"
TIMEOUT_S = 600.0

Defect = Mapping[str, Any]


def copy_of_tree(where: Path) -> Path:
    """Copy what git knows, as it is now, and lend it the binaries that `make setup` built."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, where / name
        if source.is_symlink() or source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    (where / "src" / "brownout" / "bin").symlink_to(ROOT / "src" / "brownout" / "bin")
    return where


def failed_in(tree: Path, tests: Sequence[str]) -> str:
    """Run tests in `tree`; return the first that fails, or nothing."""
    go = tests[0].startswith("./")
    command = (
        [_go(), "test", "-failfast", *tests]
        if go
        else [sys.executable, "-m", "pytest", "-x", "-q", "-m", IN_CI, "-p", "no:cacheprovider"]
    )
    # What was compiled of one defect is not to be taken for the next one.
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command if go else [*command, *tests],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return ""
    said = done.stdout + done.stderr
    failed = r"^--- FAIL: (\S+)" if go else r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$"
    named = re.search(failed, said, re.MULTILINE)
    if named is None and "KeyboardInterrupt" in said:  # a defect in handling signals ends pytest
        return f"{' '.join(tests)} (interrupted)"
    if named is None:  # a defect that does not compile proves nothing
        raise SystemExit(f"{' '.join(tests)}: no test failed, and yet:\n{said[-2000:]}")
    return named[1]


def _go() -> str:
    found = subprocess.run(
        [ROOT / "tools" / "find_go", str(Path(sys.executable).parents[1])],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return found.stdout.strip()


def noticed_by(tree: Path, defect: Defect) -> str:
    """Return the test that fails with the defect in the tree; afterwards it is out again."""
    path = tree / defect["file"]
    text = path.read_text(encoding="utf-8")
    if text.count(defect["old"] + "\n") != 1:
        raise SystemExit(f"{defect['file']}: the line of a defect is not there once: write it anew")
    try:
        path.write_text(text.replace(defect["old"] + "\n", defect["new"] + "\n"), encoding="utf-8")
        return failed_in(tree, defect["tests"].split())
    finally:
        path.write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Check every defect; return how many of them nobody noticed, at most 1."""
    defects = [
        defect
        for defect in yaml.safe_load(LIST.read_text(encoding="utf-8"))
        if not words or any(word in str(defect) for word in words)
    ]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="brownout-defects-") as scratch:
        tree = copy_of_tree(Path(scratch))
        for tests in dict.fromkeys(defect["tests"] for defect in defects):
            if failed := failed_in(tree, tests.split()):
                print(f"{failed} fails without a defect")
                return 1
        print("| | part | defect | noticed by |\n| --- | --- | --- | --- |")
        for number, defect in enumerate(defects, 1):
            found = noticed_by(tree, defect)
            survived += not found
            shown = found or f"NOBODY: {defect['tests']}"
            print(f"| {number} | {defect['area']} | {defect['harm']} | {shown} |", flush=True)
    print(f"{len(defects) - survived} of {len(defects)} defects are noticed")
    return min(survived, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
