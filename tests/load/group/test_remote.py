"""Two load hosts of one inventory behind a real sshd, of which one begins at another moment."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.load.group.known import SCRIPT, STREAMS, begin
from tests.loadgen.driving import Server, check_identities, specification
from tests.sshd import WHY_NOT, Sshd
from tests.waiting import await_true

from brownout.inventory import inventory
from brownout.load.clock import GeneratorClock
from brownout.load.group import GeneratorGroup, driven_from
from brownout.load.where import collect_left, places_for
from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.metadata import read_json
from brownout.run.parts.apart import MOST_APART_S, apart_of
from brownout.run.parts.merge import merge

pytestmark = [pytest.mark.live, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

#: By so much the second generator's clock is misread, so that it begins later.
SKEW_S = 0.2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "server", SCRIPT) as server:
        yield server


def two_hosts(sshd: Sshd, tmp_path: Path) -> Path:
    """Return an inventory whose load comes from two hosts."""
    hosts = [sshd.login(directory=str(tmp_path / f"there-{number}")) for number in (1, 2)]
    raw: dict[str, Any] = {
        "database": "mongodb",
        "environment": "test",
        "nodes": [{"name": "n1", "address": "db1:27017"}],
        "load": {"where": "ssh", "hosts": hosts},
    }
    path = tmp_path / "orders.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


def test_two_load_hosts_are_one_load_and_a_skewed_start_is_seen(
    sshd: Sshd, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, run = inventory.load(two_hosts(sshd, tmp_path)), tmp_path / "run"
    with driven_from(places_for(cluster, run), run) as generator:
        assert isinstance(generator, GeneratorGroup)
        misread = generator._parts[1]._up
        told = GeneratorClock.to_t

        def to_t(clock: GeneratorClock, monotonic: float) -> float | None:
            found = told(clock, monotonic)
            return found + SKEW_S if clock is misread and found is not None else found

        monkeypatch.setattr(GeneratorClock, "to_t", to_t)
        begin(generator, server, run)
        await_true(lambda: (generator.now() or 0.0) > 1.5, "the load goes on")
        generator.stop()
        assert generator.verify()["unread"] == 0
    parts = json.loads((run / "parts.json").read_text())["parts"]
    began = [read_json(run / f"parts/{number}/generator.json")["t0_unix_ns"] for number in (0, 1)]
    skew_s = (began[1] - began[0]) / 1e9  # by one machine's clock; a busy one adds milliseconds
    assert skew_s == pytest.approx(SKEW_S, abs=SKEW_S / 2)
    assert parts[1]["start_s"] == pytest.approx(skew_s, abs=parts[1]["start_uncertainty_s"])
    apart = apart_of(read_json(run / "generator.json"))
    assert apart is not None
    assert apart.seconds is not None
    assert apart.seconds > MOST_APART_S
    assert classify(read_ledger_lines(run / "ledger.ndjson")).state == "clean"
    for number in (1, 2):
        record = json.loads((run / "parts" / str(number - 1) / "load-host.json").read_text())
        assert record["removed"] is True
        assert str(tmp_path / f"there-{number}") in record["directory"]
        assert len(list((tmp_path / f"there-{number}").iterdir())) == 1  # the binary


#: A run of brownout, as far as its load goes.
RUN = """
import json, sys
from pathlib import Path
from brownout.inventory import inventory
from brownout.load.group import driven_from
from brownout.load.where import collect_left, places_for
cluster, spec = inventory.load(sys.argv[1]), json.loads(sys.argv[2])
run = Path(spec["dir"])
generator = driven_from(places_for(cluster, run), run, lambda live: print(live["t"], flush=True))
generator.open(spec)
generator.load()
generator.start()
sys.stdin.read()
"""


def test_what_a_killed_run_left_on_two_load_hosts_is_fetched_and_is_one_load(
    sshd: Sshd, server: Server, tmp_path: Path
) -> None:
    path, run = two_hosts(sshd, tmp_path), tmp_path / "run"
    words = [str(path), json.dumps(specification(server, run, *STREAMS))]
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", RUN, *words], stdin=pipe, stdout=pipe) as killed:
        assert killed.stdout is not None
        while float(killed.stdout.readline()) < 1.0:
            pass
        killed.kill()
    cluster = inventory.load(path)

    assert collect_left(cluster, run)

    merge(run)
    check_identities(run)
    summary = json.loads((run / "generator.json").read_text())
    assert summary["ended"] is True
    assert [part["stop_reason"] for part in summary["parts"]] == ["signal", "signal"]
    assert [len(list((tmp_path / f"there-{n}").iterdir())) for n in (1, 2)] == [1, 1]
    assert not collect_left(cluster, run)
