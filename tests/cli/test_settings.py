"""`--set` means the same in every command."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.cli.settings import changes, divided, variables

# Chaos Toolkit's own, which only tests see.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

KILL = catalog.find_experiment("node-kill")


def test_a_name_is_a_variable_of_the_experiment_or_a_setting_of_the_workload() -> None:
    given = ["downtime_s:float=5", "streams.orders.rate=20", "seed=7", "namespace=mine"]
    assert divided(KILL, given) == (
        ["downtime_s:float=5", "seed=7"],
        ["streams.orders.rate=20", "namespace=mine"],
    )
    assert divided(None, ["seed=7"]) == ([], ["seed=7"])


def test_a_name_that_both_have_is_the_experiments() -> None:
    litmus = catalog.find_experiment("litmus-fault")
    assert divided(litmus, ["namespace=chaos"]) == (["namespace=chaos"], [])


def test_all_settings_of_the_workload_become_one_variable() -> None:
    assert variables(KILL, None) == []
    assert variables(KILL, ["seed=7"], "mine") == ["seed=7", "cluster=mine"]
    given = ["data.keys=5", "load=streams.lookups.rate=9", "mode=clean", "data.value.size=1,2"]
    with pytest.raises(ConfigurationError, match="--set mode"):
        variables(KILL, given)
    wipe = catalog.find_experiment("node-wipe")
    assert variables(wipe, given) == [
        "mode=clean", "load=streams.lookups.rate=9,data.keys=5,data.value.size=1,2",
    ]  # fmt: skip
    assert changes(["data.keys=5", "namespace=mine"]) == "data.keys=5,namespace=mine"


def test_every_mistake_is_said_at_once_with_what_may_be_meant() -> None:
    with pytest.raises(ConfigurationError) as caught:
        variables(KILL, ["downtim_s=5", "stream.orders.rate=3", "sede=1"])
    first, second, third = caught.value.problems
    assert first.startswith("--set downtim_s: did you mean `downtime_s`? wanted a variable of")
    assert "a setting of the workload (title, seed, namespace" in second
    assert "did you mean `seed`?" in third
    with pytest.raises(ConfigurationError, match="2 problems:\n--set: found 'x', wanted NAME"):
        changes(["x", "=3"])


@pytest.mark.parametrize(
    "command",
    [("run", "node-kill"), ("plan", "node-kill"), ("repeat", "node-kill"), ("fill", "lab"),
     ("sweep", "node-kill", "--vary", "downtime_s=1,2"), ("litmus", "probes", "node-kill"),
     ("capacity", "lab", "--with-fault", "node-kill"), ("load", "lab"), ("clean",)],
    ids=lambda words: " ".join(words[:1]),
)  # fmt: skip
def test_every_command_with_a_workload_takes_its_settings_and_refuses_what_is_none(
    command: tuple[str, ...], brownout: Brownout, home: Path
) -> None:
    for setting, word in (("nonsense", "NAME=VALUE"), ("streamz.0.rate=3", "streamz")):
        said = brownout(*command, "--set", setting)
        assert said.code == 64, said.err
        assert word in said.err
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    "command",
    [("run", "node-kill"), ("plan", "node-kill"), ("repeat", "node-kill", "-n", "1"),
     ("sweep", "node-kill", "--vary", "downtime_s=1,2")],
    ids=lambda words: " ".join(words[:1]),
)  # fmt: skip
def test_every_command_that_runs_an_experiment_takes_its_cluster(
    command: tuple[str, ...], brownout: Brownout, home: Path
) -> None:
    said = brownout(*command, "--cluster", "nowhere")
    assert said.code == 64, said.err
    assert "unknown cluster `nowhere`" in said.err
    assert not (home / "runs").exists()


def test_a_plan_shows_the_workload_as_it_was_set(brownout: Brownout, home: Path) -> None:
    experiment = home / "mine.json"
    experiment.write_text(json.dumps(json.loads(KILL.read_text())))
    on = ("--set", "cluster=lab-mongodb", "--set", "workload=lab")
    rates = ("--set", "streams.lookups.rate=31", "--set", "streams.orders.rate=17")
    said = brownout("plan", experiment, *on, *rates)
    assert "48" in said.out, said.out + said.err
