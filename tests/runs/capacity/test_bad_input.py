"""Bad input to `brownout capacity` and `fill`: one clear error, and nothing is touched."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from brownout import cli

SLA = ("--sla", "lookups.read.p99=20ms")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("capacity",), ["WORKLOAD", "wanted a workload's file or name"]),
        (("capacity", "lab"), ["has no `sla`"]),
        (("capacity", "nothing", *SLA), ["nothing", "unknown"]),
        (("capacity", "lab", "--sla", "shop.read.p99=20ms"), ["shop", "lookups, orders"]),
        (("capacity", "lab", "--sla", "lookups.write.p99=20ms"), ["lookups", "does no write"]),
        (("capacity", "lab", "--sla", "lookups.read.p99"), ["--sla", "STREAM.read.p99.9=20ms"]),
        (("capacity", "lab", "--sla", "lookups.read.p98=20ms"), ["p98_ms", "wanted p50_ms"]),
        (("capacity", "lab", "--sla", "lookups.read.p99=0ms"), ["wanted more than 0", "p99_ms"]),
        (("capacity", "lab", *SLA, "--start", "-5", "--factor", "1"), ["--start", "--factor"]),
        (("capacity", "lab", *SLA, "--start", "nan"), ["--start"]),
        (("capacity", "lab", *SLA, "--start", "900", "--max", "500"), ["--start", "above --max"]),
        (("capacity", "lab", *SLA, "--step", "soon"), ["--step", "500ms, 30s, 5m"]),
        (("capacity", "lab", *SLA, "--final", "3s"), ["--final", "no less than --step"]),
        (("capacity", "lab", *SLA, "--set", "streams.lookups.rate=-3"), ["rate", "-3"]),
        (("capacity", "lab", *SLA, "--cluster", "nowhere"), ["nowhere"]),
        (("capacity", "lab", *SLA, "--with-fault", "earthquake"), ["earthquake"]),
        (("capacity", "lab", *SLA, "--with-fault", "partition"), ["partition", "unsupported"]),
        (("capacity", "lab", *SLA, "--set", "downtime_s=1"), ["--set downtime_s", "--with-fault"]),
        (("capacity", "lab", *SLA, "--with-fault", "node-kill", "--set", "load=x"), ["load"]),
        (("capacity", "lab", *SLA, "--with-fault", "node-kill", "--set", "colour=1"), ["colour"]),
        (("capacity", "lab", *SLA, "--with-fault", "node-kill", "--set", "cluster=x"), ["cluster"]),
        (("capacity", "lab", "--resume", "nowhere"), ["--resume", "beside it"]),
        (("capacity", "--resume", "nowhere"), ["nowhere", "wanted.json"]),
        (("fill", "lab", "--records", "5", "--size", "1GB"), ["--records and --size"]),
        (("fill", "lab", "--size", "lots"), ["--size", "500MB or 10GB"]),
        (("fill", "lab", "--size", "10B"), ["--size", "one value of 256"]),
        (("fill", "lab", "--condition", "-3s"), ["--condition"]),
    ],
)
def test_it_is_refused_before_anything_is_touched(
    arguments: Sequence[str],
    words: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("RUNS", "STATE", "LAB_DIR"):
        monkeypatch.setenv(f"BROWNOUT_{name}", str(tmp_path / name))
    monkeypatch.delenv("BROWNOUT_CLUSTER", raising=False)
    assert cli.run(list(arguments)) == 64
    said = " ".join(capsys.readouterr().err.split())
    assert [word for word in words if word not in said] == [], said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_closed_loop_has_no_rate_to_be_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = {"name": "app", "mix": {"read": 100}, "concurrency": 8}
    sla = {"app": {"read": {"p99_ms": 5}}}
    file = tmp_path / "closed.yaml"
    file.write_text(yaml.safe_dump({"streams": [stream], "sla": sla}))
    assert cli.run(["capacity", str(file)]) == 64
    assert "stream `app`: found a closed loop, wanted a rate" in capsys.readouterr().err


def test_an_inventory_whose_price_means_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = {"database": "mongodb", "environment": "lab", "lab": {"engine": "mongodb"},
                 "price": {"currency": "dollars", "per_node_hour": -2}}  # fmt: skip
    (tmp_path / "dear.yaml").write_text(yaml.safe_dump(inventory))
    code = cli.run(["capacity", "lab", *SLA, "--cluster", str(tmp_path / "dear.yaml")])
    said = capsys.readouterr().err
    assert code == 64
    assert "price.currency" in said
    assert "price.per_node_hour" in said
