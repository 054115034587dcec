"""A comparison's file: what is wrong with it is said at once, and what it means for a run."""

from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Brownout
from tests.runs.clients.comparisons import COMPARISON, write_comparison

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.load import workload
from brownout.runs.clients.clients_file import read, variables_of, workload_of
from brownout.runs.clients.outlook import plan_words
from brownout.session.plan_file import plan_of


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read(str(path))
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


@pytest.mark.parametrize("name", catalog.names("comparisons"))
def test_every_shipped_comparison_is_sound(name: str) -> None:
    comparison = read(name)
    assert comparison.title
    assert comparison.repeats >= 3
    assert len({row.command for row in comparison.clients}) < len(comparison.clients)


def test_every_mistake_of_the_file_is_listed_at_once(home: Path) -> None:
    clients = [
        {"name": "Bad Name", "command": []},
        {"name": "good", "command": ["x"], "rate": -1},
    ]
    listed = problems(write_comparison(home, repeats="many", colour="red", clients=clients))
    for where in ("repeats: ", "colour: ", "clients[0].name: ", "clients[0].command: ",
                  "clients[1].rate: "):  # fmt: skip
        assert any(problem.startswith(where) for problem in listed), (where, listed)


def test_every_mistake_of_what_the_file_names_is_listed_at_once(home: Path) -> None:
    listed = problems(
        write_comparison(home, cluster="nowhere", variables={"seed": 4, "workload": "lab"})
    )
    assert [
        problem for problem in listed if problem.startswith("cluster: ") and "nowhere" in problem
    ]
    for name in ("seed", "workload"):
        assert any(f"variables.{name}: found one of its own" in problem for problem in listed)
    (missing,) = problems(write_comparison(home, experiment="earthquake"))
    assert missing.startswith("experiment: ")


def test_the_environment_changes_nothing_that_the_comparison_sets_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, other in {"CLUSTER": "lab-redis", "LOAD": "data.keys=7", "SEED": "9"}.items():
        monkeypatch.setenv(f"BROWNOUT_{name}", other)
    comparison = read(str(write_comparison(home)))
    options = plan_of(comparison.experiment, variables_of(comparison, None, 4))[0].options
    assert (options.cluster, options.load, options.seed) == ("lab-mongodb", "", 4)


@pytest.mark.parametrize("name", ["driver", "total", "write"])
def test_a_client_does_not_have_the_name_of_a_scope(name: str, home: Path) -> None:
    clients = [{"name": name, "command": ["x"]}]
    (problem,) = problems(write_comparison(home, clients=clients))
    assert f"{name}: is the name of a scope" in problem


def test_a_name_that_is_there_twice_is_refused(home: Path) -> None:
    (problem,) = problems(write_comparison(home, clients=[*COMPARISON["clients"]] * 2))
    assert "app, orders: there twice" in problem


def test_all_clients_share_a_run_beside_the_driver_or_have_runs_of_their_own(home: Path) -> None:
    together = read(str(write_comparison(home, driver_rate=30)))
    (rows,) = together.groups.values()
    load = workload.parse(workload_of(together, rows), "tiny.yaml")
    assert [(stream.name, stream.rate) for stream in load.streams] == [
        ("driver", 30), ("app", 20), ("orders", 20),
    ]  # fmt: skip
    assert [stream.client is not None for stream in load.streams] == [False, True, True]
    apart = read(str(write_comparison(home, together=False)))
    assert list(apart.groups) == ["app", "orders"]
    assert "6 runs" in plan_words(apart, None)
    assert "3 runs" in plan_words(together, None)


def test_a_plan_says_what_every_client_gets_and_touches_nothing(
    home: Path, brownout: Brownout
) -> None:
    plan = brownout("clients", "plan", write_comparison(home))
    assert plan.code == 0
    assert '{"ping": true, "recycle": 10}' in plan.out
    assert [path.name for path in home.iterdir()] == ["tiny.yaml"]


def test_a_comparison_is_recognized_among_other_files(home: Path, brownout: Brownout) -> None:
    path = write_comparison(home)
    assert "(comparison)" in brownout("check", path).out
    path.write_text(yaml.safe_dump({**COMPARISON, "cluster": "nowhere"}))
    assert brownout("check", path).code == 64
