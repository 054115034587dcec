"""A wheel carries the load generator only; labs that need more say so and how to get it."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import brownout

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(brownout.__file__).resolve().parent
STAND_INS = {"asd-stand-in", "etcd", "router-stand-in", "toxiproxy"}
FROM_A_CHECKOUT = "use a checkout of brownout, where `make setup` builds it"


def test_a_checkout_has_the_stand_ins_and_a_wheel_the_load_generator_only() -> None:
    checkout = PACKAGE.is_relative_to(ROOT)
    found = {program.name for program in (files("brownout") / "bin").iterdir()}
    assert found == ({"loadgen"} | STAND_INS if checkout else {"loadgen"})
    if not checkout:
        assert not [path for path in PACKAGE.rglob("*") if path.suffix == ".go"]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The folder of a package that is as a wheel lays it out."""
    package = tmp_path / "site" / "brownout"
    (package / "bin").mkdir(parents=True)
    (package / "bin" / "loadgen").symlink_to(PACKAGE / "bin" / "loadgen")
    for entry in PACKAGE.iterdir():
        if entry.name not in ("bin", "__pycache__"):
            (package / entry.name).symlink_to(entry.resolve())
    return package.parent


def command(wheel: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `brownout` as that wheel has it, without a server of this machine."""
    home = wheel.parent
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("BROWNOUT_")},
        "PYTHONPATH": str(wheel),
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "XDG_STATE_HOME": str(home),
    }
    program = [sys.executable, "-c", "from brownout.cli import main; main()", *arguments]
    return subprocess.run(program, cwd=home, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("lab", "needs", "hint"),
    [
        ("lab-aerospike", "a lab without a real asd needs asd-stand-in",
         f"set BROWNOUT_ASD to an asd of the Community Edition, or {FROM_A_CHECKOUT}"),
        pytest.param("lab-mongodb-sharded", "a sharded lab needs router-stand-in",
                     FROM_A_CHECKOUT, marks=pytest.mark.matrix),
    ],
)  # fmt: skip
def test_a_lab_from_a_wheel_says_what_is_missing_and_how_to_get_it(
    lab: str, needs: str, hint: str, wheel: Path
) -> None:
    missing = wheel / "brownout" / "bin" / needs.rpartition(" ")[2]
    message = f"{needs}, which no wheel of brownout has: `{missing}` is not an executable file"
    up = command(wheel, "lab", "up", lab)
    assert up.returncode == 2, up.stdout + up.stderr
    plan = command(wheel, "plan", "node-kill", "--set", f"cluster={lab}")
    assert plan.returncode == 64, plan.stdout + plan.stderr
    for told in (up.stderr, plan.stdout):
        assert message in " ".join(told.split())
        assert hint in " ".join(told.split())
