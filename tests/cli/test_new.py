"""`brownout new`: a copy of everything an experiment is made of, that works as it is."""

import json
from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Brownout

from brownout.base import catalog
from brownout.faults.litmus import manifest


@pytest.mark.parametrize("scenario", catalog.names("experiments"))
def test_a_copy_is_right_and_can_be_planned(
    scenario: str, brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    said = brownout("new", scenario, "-o", "mine", "--workload", "key-value")
    assert said.code == 0, said.err
    monkeypatch.chdir(home / "mine")
    files = [p for p in Path().rglob("*") if p.suffix in (".json", ".yaml")]
    checked = brownout("check", *[p for p in files if p.parts[0] != "schemas"])
    assert checked.code == 0, checked.err
    if scenario == "litmus-fault":  # which cannot have a default
        engine = manifest.from_parts("shop", "pod-delete", "pod-delete-sa", {}, {})
        Path("engine.yaml").write_text(yaml.safe_dump(engine))
        monkeypatch.setenv("BROWNOUT_LITMUS_MANIFEST", "engine.yaml")
    planned = brownout("plan", f"experiments/{scenario}.json")
    assert planned.code == 0, planned.out + planned.err
    assert "key-value 2000/s" in planned.out


def test_a_copy_has_the_shipped_limits_and_they_win(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    brownout("new", "node-kill", "-o", "mine", "--name", "my-kill")
    path = home / "mine" / "experiments" / "my-kill.json"
    copy = json.loads(path.read_text())
    shipped = yaml.safe_load(catalog.read("limits", "node-kill.mongodb"))
    assert set(copy["configuration"]["limits"]) == {limit["measure"] for limit in shipped}
    copy["configuration"]["limits"] = {"blackout": 1.25}
    path.write_text(json.dumps(copy))
    monkeypatch.chdir(home / "mine")
    planned = brownout("plan", "experiments/my-kill.json")
    limits = [line for line in planned.out.splitlines() if line.startswith("limit")]
    assert len(limits) == 1
    assert "1.2" in limits[0]
    assert "experiment" in limits[0]


@pytest.mark.parametrize(
    ("experiment", "words"),
    [("slow-node", "the node's answers come later"), ("disk-slow", "each flush to disk is held")],
)
def test_a_variable_is_explained_as_the_fault_of_this_experiment_means_it(
    experiment: str, words: str, brownout: Brownout, home: Path
) -> None:
    brownout("new", experiment, "-o", "mine")
    (row,) = [
        line
        for line in Path("mine/README.md").read_text("utf-8").splitlines()
        if line.startswith("| `latency_ms` |")
    ]
    assert words in row


OWN = """\
name: shop
database: etcd
environment: staging
nodes:
- {name: e1, address: "10.0.0.1:2379"}
- {name: e2, address: "10.0.0.2:2379"}
- {name: e3, address: "10.0.0.3:2379"}
connection:
  auth: {username: u, password: {file: secret}}
"""


@pytest.mark.parametrize("named", ["shop", "infra/clusters/shop.yaml"])
def test_an_own_inventory_is_named_where_it_is(
    named: str, brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = home / "infra" / "clusters"
    place.mkdir(parents=True)
    (place / "shop.yaml").write_text(OWN)
    (place / "secret").write_text("s")
    told = brownout("new", "node-kill", "-o", "mine", "--cluster", named)
    assert told.code == 0, told.err
    assert not (home / "mine" / "infra").exists()
    copy = json.loads((home / "mine" / "experiments" / "node-kill.json").read_text())
    assert copy["configuration"]["cluster"]["default"] == "../infra/clusters/shop.yaml"
    shipped = yaml.safe_load(catalog.read("limits", "node-kill.etcd"))
    assert set(copy["configuration"]["limits"]) == {limit["measure"] for limit in shipped}
    monkeypatch.chdir(home / "mine")
    checked = brownout("check", "experiments/node-kill.json", "../infra/clusters/shop.yaml")
    assert checked.code == 0, checked.err


@pytest.mark.parametrize(
    ("text", "words"), [("nodes: []\n", "database: missing"), ("[", "shop.yaml"), (None, "shop")]
)
def test_an_inventory_that_cannot_be_read_makes_nothing(
    text: str | None, words: str, brownout: Brownout, home: Path
) -> None:
    if text is not None:
        (home / "shop.yaml").write_text(text)
    told = brownout("new", "node-kill", "-o", "mine", "--cluster", "shop.yaml")
    assert told.code == 64
    assert words in told.err
    assert not (home / "mine").exists()


def test_an_own_workload_is_copied(brownout: Brownout, home: Path) -> None:
    own = home / "steady-state" / "workloads" / "checkout.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(catalog.read("workloads", "key-value").replace("2000", "30"))
    told = brownout("new", "node-kill", "-o", "mine", "--workload", "checkout")
    assert told.code == 0, told.err
    copy = (home / "mine" / "steady-state" / "workloads" / "checkout.yaml").read_text()
    assert own.read_text() in copy


def test_the_readme_explains_every_variable_and_limit(brownout: Brownout, home: Path) -> None:
    brownout("new", "node-wipe")
    readme = (home / "node-wipe" / "README.md").read_text()
    copy = json.loads((home / "node-wipe" / "experiments" / "node-wipe.json").read_text())
    for name in (*copy["configuration"], *copy["configuration"]["limits"]):
        assert f"| `{name}` |" in readme
    assert "of this experiment alone" not in readme


def test_nothing_is_written_over(brownout: Brownout, home: Path) -> None:
    (home / "mine" / "experiments").mkdir(parents=True)
    kept = home / "mine" / "experiments" / "node-kill.json"
    kept.write_text("precious")
    said = brownout("new", "node-kill", "-o", "mine")
    assert said.code == 64
    assert str(kept.relative_to(home)) in said.err
    assert [p for p in (home / "mine").rglob("*") if p.is_file()] == [kept]
    assert kept.read_text() == "precious"


def test_a_name_that_is_no_name_is_refused(brownout: Brownout, home: Path) -> None:
    said = brownout("new", "node-kill", "--name", "../up", "-o", "mine")
    assert (said.code, "../up" in said.err) == (64, True)
    assert not (home / "mine").exists()
