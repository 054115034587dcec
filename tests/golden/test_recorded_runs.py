"""What is made of recorded runs, held as it is: measures, ledger, table and JUnit.

The recordings are raw files of real runs ([tests/data/runs](../data/runs/README.md)), of every
version of brownout that wrote them differently, so this also shows that old runs are still read.
`pytest tests/golden --snapshot-update` accepts what is there now; read the difference in git.
"""

import json
import tarfile
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Brownout, brownout, home

__all__ = ["brownout", "home"]

RECORDINGS = sorted((Path(__file__).parents[1] / "data" / "runs").glob("*.tar.xz"))


@pytest.fixture
def recorded(request: pytest.FixtureRequest, home: Path) -> Path:
    """The raw files of one recorded run, unpacked below the runs directory."""
    with tarfile.open(request.param) as archive:
        archive.extractall(home / "runs", filter="data")
    (run,) = (home / "runs").iterdir()
    return run


@pytest.mark.parametrize(
    "recorded", RECORDINGS, indirect=True, ids=lambda path: path.name.removesuffix(".tar.xz")
)
def test_a_recorded_run_is_measured_and_judged_as_it_was(
    recorded: Path, brownout: Brownout, home: Path, snapshot: SnapshotAssertion
) -> None:
    said = brownout("analyze", recorded)
    ledger = json.loads((recorded / "ledger.json").read_text())
    impact = json.loads((recorded / "impact.json").read_text())
    for made_anew in ("digest", "brownout"):  # a sum of every field, and the version that made it
        impact.pop(made_anew, None)
    junit = home / "junit.xml"
    brownout("gate", recorded, "-o", junit)
    made = {
        "table": f"exit code {said.code}\n{said.out}",
        "ledger.json": json.dumps(ledger, indent=1),
        "impact.json": json.dumps(impact, indent=1),
        "junit.xml": junit.read_text() if junit.exists() else "refused",
    }
    for name, text in made.items():
        assert text.replace(str(home), "…") == snapshot(name=name)
