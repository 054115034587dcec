"""The distribution `chaostoolkit-brownout` brings this brownout and its activities."""

import subprocess
import sys
import tomllib
from pathlib import Path

ALIAS = Path(__file__).resolve().parents[2] / "tools" / "chaostoolkit-brownout"
ROOT = ALIAS.parents[1]


def test_it_has_the_version_and_the_licence_of_what_it_brings() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    alias = tomllib.loads((ALIAS / "pyproject.toml").read_text())["project"]
    assert alias["version"] == ours["version"]
    assert alias["dependencies"] == [f"brownout=={ours['version']}"]
    for same in ("license", "requires-python"):
        assert alias[same] == ours[same]


def test_its_package_discovers_every_activity() -> None:
    told = subprocess.run(
        [sys.executable, "-c",
         "import brownout, chaosbrownout; a, b = brownout.discover(), chaosbrownout.discover(); "
         "assert a['activities'] and a['activities'] == b['activities']"],
        cwd=ALIAS, capture_output=True, text=True,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
