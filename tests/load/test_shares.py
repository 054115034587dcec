"""What several generators cannot share out is refused, all of it, before anything is started."""

from pathlib import Path

import pytest

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.load import workload as workloads
from brownout.load.place import Here
from brownout.load.session import run_load
from brownout.load.shares import check_shares


def test_every_shipped_workload_can_be_shared_out_to_ten() -> None:
    for name in catalog.names("workloads"):
        check_shares(workloads.load(name), 10)


def test_all_that_cannot_be_shared_out_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("""
data: {keys: 100, value_bytes: 10}
lanes: {cap: 2}
streams:
  - {name: a, mix: {update: 1}, concurrency: 2, verified: true, ledger_keys: 50,
     keys: {distribution: zipf}}
  - {name: b, mix: {update: 1}, rate: 5, verified: true, ledger_keys: 50,
     keys: {distribution: hot-set}}
  - {name: c, mix: {update: 1}, rate: 5, keys: {distribution: zipf}}
""")
    workload = workloads.load(str(path))
    check_shares(workload, 1)
    with pytest.raises(ConfigurationError) as caught:
        run_load(workload, {}, tmp_path / "run", 1.0, seed=1, places=[Here()] * 3)
    assert caught.value.problems == [
        "workload: lanes.cap: found 2, wanted one at least for each of 3 generators",
        "workload: streams[0].concurrency: found 2, wanted one at least for each of 3 generators",
        "workload: streams[0].keys: found zipf for verified keys, the hottest of which has one "
        "writer; wanted uniform, gaussian or hot-set for 3 generators",
        "workload: streams[1].keys.hot_keys: found 5 hot keys, wanted a multiple of 3, the "
        "generators",
    ]
    assert not (tmp_path / "run").exists()
