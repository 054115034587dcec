"""Build sdist and wheel, install the wheel in fresh environments, and test it from outside.

Run by `make wheel`. The wheel is built through the sdist, so that a file missing from the sdist
is noticed and nothing stale from build/ is shipped. It is installed bare and, on x86-64, which has
a lab from a wheel, with what the lab needs and with everything. What passes is put into dist/,
together with `chaostoolkit-brownout`.
"""

import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a newcomer asks first; each of these works without any extra.
FIRST_HOUR = (
    "brownout --version",
    "brownout list all",
    "brownout new node-kill -o mine",
    "brownout check mine/steady-state/workloads/lab.yaml mine/infra/clusters/lab-mongodb.yaml",
    "brownout schema inventory",
    "brownout doctor",
    "chaos --no-version-check discover brownout --no-install",
)
#: And these with a database to drive, the first in the folder that `new` made.
ON_THE_LAB = (
    "mine: brownout check experiments/node-kill.json",
    "brownout doctor --cluster lab-mongodb",
    "brownout plan node-kill --set downtime_s=5",
    "brownout load lab --for 3s",
)


#: How an ELF file names its machine, and the type of the segment that names a dynamic linker.
MACHINES = {"x86_64": 62, "aarch64": 183}
PT_INTERP = 3


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
    """Run `commands` in an empty folder, or in the one they name, with a state of their own."""
    home = away / f"home of {programs.parent.name}"
    home.mkdir()
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home), "BROWNOUT_RUNS": str(home / "runs")}
    for command in commands:
        folder, _, words = command.rpartition(": ")
        program, *arguments = words.split()
        print(f"$ {command}", flush=True)
        subprocess.run(
            [programs / program, *arguments], cwd=home / folder, env={**os.environ, **state},
            check=True,
        )  # fmt: skip


def check_platform(wheel: Path) -> None:
    """Exit unless the wheel is tagged for this processor and its program needs no library."""
    machine = platform.machine()
    tag = f"-py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}.whl"
    if not wheel.name.endswith(tag):
        raise SystemExit(f"{wheel.name}: wanted a name that ends in {tag}")
    with zipfile.ZipFile(wheel) as files:
        program = files.read("brownout/bin/loadgen")
        (info,) = [name for name in files.namelist() if name.endswith(".dist-info/WHEEL")]
        if "Root-Is-Purelib: false" not in files.read(info).decode():
            raise SystemExit(f"{wheel.name}: says that it fits every platform")
    (found,) = struct.unpack_from("<H", program, 18)
    if program[:5] != b"\x7fELF\x02" or found != MACHINES[machine]:
        raise SystemExit(f"{wheel.name}: its load generator is not for {machine}")
    (start,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<I", program, start + at * size)[0] for at in range(count)]
    if PT_INTERP in kinds:
        raise SystemExit(f"{wheel.name}: its load generator is not static")


def check_descriptions(files: Iterable[Path], away: Path) -> None:
    """Ask twine whether a package index would take these."""
    venv.create(away / "twine", with_pip=True)
    python = away / "twine/bin/python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", "twine", cwd=away)
    run(python, "-m", "twine", "check", "--strict", *files, cwd=away)


def main() -> None:
    """Build, install and test, in a temporary directory."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        dist = away / "dist"
        for source in (ROOT, ROOT / "tools" / "chaostoolkit-brownout"):
            run(sys.executable, "-m", "build", "--outdir", dist, source, cwd=away)
        (wheel,) = dist.glob(f"brownout-{version}-*.whl")
        (alias,) = dist.glob(f"chaostoolkit_brownout-{version}-py3-none-any.whl")
        check_platform(wheel)
        check_descriptions(sorted(dist.iterdir()), away)
        bare = install(wheel, "", away)
        answers(bare, FIRST_HOUR, away)
        run(bare / "python", "-m", "pip", "install", "-q", "--no-deps", alias, cwd=away)
        run(bare / "python", "-m", "pip", "check", cwd=away)
        run(bare / "chaos", "--no-version-check", "discover", "--no-install",
            "chaostoolkit-brownout", cwd=away)  # fmt: skip
        if platform.machine() == "x86_64":
            answers(install(wheel, "lab,mongodb,report", away), (*FIRST_HOUR, *ON_THE_LAB), away)
            alone = ["-c", "/dev/null", "--rootdir", ROOT, "--import-mode=importlib"]
            python = install(wheel, "dev", away) / "python"
            packaging = ["-P", "-m", "pytest", ROOT / "tests" / "packaging", *alone, "--noconftest"]
            run(python, *packaging, cwd=away)
        for file in dist.iterdir():
            (ROOT / "dist").mkdir(exist_ok=True)
            shutil.copy2(file, ROOT / "dist")
        print(f"dist/{wheel.name} installs and works")


if __name__ == "__main__":
    main()
