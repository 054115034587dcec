"""Build sdist and wheel, install the wheel in fresh environments, and test it from outside.

Run by `make wheel`. The wheel is built through the sdist, so that a file missing from the sdist
is noticed and nothing stale from build/ is shipped. It is installed with everything, with what the
lab needs, and bare.
"""

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a newcomer asks first; each of these works without any extra.
FIRST_HOUR = (
    "brownout list all",
    "brownout new node-kill -o mine",
    "brownout check mine/steady-state/workloads/lab.yaml mine/infra/clusters/lab-mongodb.yaml",
    "brownout schema inventory",
    "brownout doctor",
    "chaos --no-version-check discover brownout --no-install",
)
#: And these with a database to drive.
ON_THE_LAB = (
    "brownout check mine/experiments/node-kill.json",
    "brownout doctor --cluster lab-mongodb",
    "brownout plan node-kill --set downtime_s=5",
    "brownout load lab --for 3s",
)


def run(*command: str | Path, cwd: Path) -> None:
    """Run `command` in `cwd`; a failure ends the check."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def install(wheel: Path, extras: str, away: Path) -> Path:
    """Install the wheel with `extras` in an environment of its own; return its programs' folder."""
    place = away / (extras or "bare").replace(",", "-")
    venv.create(place, with_pip=True)
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    constraints = ROOT / "constraints.txt"
    run(place / "bin/python", "-m", "pip", "install", "-q", "-c", constraints, wanted, cwd=away)
    return place / "bin"


def answers(programs: Path, commands: Iterable[str], away: Path) -> None:
    """Run `commands` in an empty folder, with a state of their own."""
    home = away / f"home of {programs.parent.name}"
    home.mkdir()
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home), "BROWNOUT_RUNS": str(home / "runs")}
    for command in commands:
        program, *arguments = command.split()
        print(f"$ {command}", flush=True)
        subprocess.run(
            [programs / program, *arguments], cwd=home, env={**os.environ, **state}, check=True
        )


def main() -> None:
    """Build, install and test, in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        run(sys.executable, "-m", "build", "--outdir", away / "dist", ROOT, cwd=away)
        (wheel,) = (away / "dist").glob("*.whl")
        answers(install(wheel, "", away), FIRST_HOUR, away)
        answers(install(wheel, "lab,mongodb,report", away), (*FIRST_HOUR, *ON_THE_LAB), away)
        tests = ROOT / "tests"
        alone = ["-c", "/dev/null", "--rootdir", tests, "--import-mode=importlib", "--noconftest"]
        python = install(wheel, "dev", away) / "python"
        run(python, "-P", "-m", "pytest", tests / "packaging", *alone, cwd=away)
        print(f"{wheel.name} installs, works with few extras, and passes tests/packaging")


if __name__ == "__main__":
    main()
