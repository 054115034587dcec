"""Build sdist and wheel, install the wheel in a fresh environment, and test it from outside.

Run by `make wheel`. The wheel is built through the sdist, so that a file missing from the sdist
is noticed and nothing stale from build/ is shipped.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, cwd: Path) -> None:
    """Run `command` in `cwd`; a failure ends the check."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def main() -> None:
    """Build, install and test, in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        run(sys.executable, "-m", "build", "--outdir", away / "dist", ROOT, cwd=away)
        (wheel,) = (away / "dist").glob("*.whl")
        venv.create(away / "venv", with_pip=True)
        python = away / "venv" / "bin" / "python"
        constraints = ROOT / "constraints.txt"
        run(python, "-m", "pip", "install", "-q", "-c", constraints, f"{wheel}[dev]", cwd=away)
        tests = ROOT / "tests"
        alone = ["-c", "/dev/null", "--rootdir", tests, "--import-mode=importlib", "--noconftest"]
        run(python, "-P", "-m", "pytest", tests / "packaging", *alone, cwd=away)
        print(f"{wheel.name} installs and passes tests/packaging")


if __name__ == "__main__":
    main()
