"""`brownout check`: which kind a file is, and all that is wrong with it, at once."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout

from brownout.base import catalog

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(
    path
    for folder in ("experiments", "steady-state", "infra/clusters")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".json", ".yaml")
)
Document = dict[str, Any]


@pytest.fixture
def edited(home: Path) -> Callable[[Callable[[Document], None]], Path]:
    """Write node-kill with a change made to it."""

    def write(change: Callable[[Document], None]) -> Path:
        document: Document = json.loads(catalog.read("experiments", "node-kill"))
        change(document)
        path = home / "experiment.json"
        path.write_text(json.dumps(document))
        return path

    return write


def test_every_shipped_file_is_right(brownout: Brownout, home: Path) -> None:
    said = brownout("check", *SHIPPED)
    assert (said.code, said.err) == (0, "")
    kinds = {line.rpartition("  (")[2].rstrip(")") for line in said.out.splitlines()}
    assert kinds == {
        "experiment", "game day", "book", "comparison", "published table", "workload", "inventory",
        "limits",
    }  # fmt: skip


def test_all_mistakes_of_all_files_are_said_at_once(brownout: Brownout, home: Path) -> None:
    (home / "load.yaml").write_text(
        "streams:\n  - {name: total, mix: {reed: 1}, rate: -5}\n  - {name: b, mix: {read: 1}}\n"
    )
    (home / "cluster.yaml").write_text(
        "database: oracle\nenvironment: lab\nnodes: [{name: n1, address: here}]\n"
    )
    (home / "limits.yaml").write_text("- {measure: speed, limit: 3, why: because}\n")
    said = brownout("check", *sorted(home.glob("*.yaml")))
    assert said.code == 64
    for words in ("streams[0].name", "mix.reed", "rate", "streams[1]: no pace", "oracle",
                  "nodes[0].address", "'speed' is unknown"):  # fmt: skip
        assert words in said.err
    assert "Traceback" not in said.err


def test_a_file_of_no_known_kind_says_what_was_wanted(brownout: Brownout, home: Path) -> None:
    (home / "odd.yaml").write_text("colour: blue\n")
    said = brownout("check", home / "odd.yaml")
    assert said.code == 64
    assert "colour" in said.err
    assert "streams" in said.err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("torn.json", '{"title": ', "not valid JSON"),
        ("torn.yaml", "streams: [", "not valid YAML"),
    ],
)
def test_a_file_that_does_not_parse_says_where(
    name: str, text: str, words: str, brownout: Brownout, home: Path
) -> None:
    (home / name).write_text(text)
    said = brownout("check", home / name)
    assert said.code == 64
    assert words in said.err


def test_a_file_that_is_not_there_is_named(brownout: Brownout, home: Path) -> None:
    said = brownout("check", "nowhere.yaml")
    assert (said.code, "nowhere.yaml" in said.err) == (64, True)


MISTAKES: list[tuple[str, Callable[[Document], Any], str]] = [
    ("an unknown function", lambda e: e["method"][0]["provider"].update(func="explode"), "explode"),
    (
        "a misspelt argument",
        lambda e: e["method"][1]["provider"].update(arguments={"stat": "changed"}),
        "stat",
    ),
    ("no control", lambda e: e.update(controls=[]), "brownout.control"),
    (
        "a control that does not exist",
        lambda e: e["controls"].append(
            {"name": "ours", "provider": {"type": "python", "module": "no_such_control"}}
        ),
        "no_such_control",
    ),
    ("null for a list", lambda e: e.update(rollbacks=None), "rollbacks"),
    ("a name of 5,000 letters", lambda e: e["configuration"].update(cluster="a" * 5000), "a" * 99),
    ("no undo", lambda e: e.update(rollbacks=[]), "put_back"),
    ("undo not always", lambda e: e.pop("runtime"), "always"),
    ("no scenario", lambda e: e.pop("extensions"), "scenario"),
    (
        "an unknown scenario",
        lambda e: e["extensions"][0].update(scenario="node-kil"),
        "did you mean node-kill?",
    ),
    ("no title", lambda e: e.pop("title"), "title"),
    (
        "an undeclared variable",
        lambda e: e["method"][1]["provider"]["arguments"].update(timeout_s="${patience_s}"),
        "patience_s",
    ),
    (
        "a float as tolerance",
        lambda e: e["steady-state-hypothesis"]["probes"][0].update(tolerance=0.5),
        "probes[0]",
    ),
    (
        "an unknown cluster",
        lambda e: e["configuration"].update(cluster="atlantis"),
        "atlantis",
    ),
    (
        "an impossible limit",
        lambda e: e["configuration"].update(limits={"availability": 7}),
        "availability",
    ),
    ("a step that is no mapping", lambda e: e["method"].insert(0, "kill it"), "method[0]"),
]


@pytest.mark.parametrize(
    ("change", "words"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_in_an_experiment_is_found_before_anything_is_touched(
    change: Callable[[Document], Any],
    words: str,
    edited: Callable[[Callable[[Document], Any]], Path],
    brownout: Brownout,
) -> None:
    said = brownout("check", edited(change))
    assert said.code == 64
    assert words in said.err
    assert "Traceback" not in said.err


def test_every_mistake_of_an_experiment_is_found_not_only_the_first(
    edited: Callable[[Callable[[Document], Any]], Path], brownout: Brownout
) -> None:
    def spoil(experiment: Document) -> None:
        experiment["controls"] = []
        experiment["rollbacks"] = []
        for step in experiment["method"]:
            step["provider"]["func"] = "explode"

    said = brownout("check", edited(spoil))
    steps = len(json.loads(catalog.read("experiments", "node-kill"))["method"])
    assert len(re.findall("explode", said.err)) >= steps
    assert "put_back" in said.err
    assert "brownout.control" in said.err


def test_an_experiment_of_your_own_is_known_by_the_limits_in_it(
    edited: Callable[[Callable[[Document], Any]], Path], brownout: Brownout
) -> None:
    def own(experiment: Document) -> None:
        experiment["extensions"][0]["scenario"] = "our-worst-day"
        experiment["configuration"]["limits"] = {"recovery_time": 10}

    said = brownout("check", edited(own))
    assert (said.code, said.err) == (0, "")


SHOP = """\
name: shop
database: etcd
environment: {environment}
nodes:
- {{name: e1, address: "10.0.0.1:2379"{host}}}
- {{name: e2, address: "10.0.0.2:2379"}}
- {{name: e3, address: "10.0.0.3:2379"}}
"""


def test_an_experiment_is_checked_on_the_inventory_that_is_named(
    edited: Callable[[Callable[[Document], Any]], Path], brownout: Brownout, home: Path
) -> None:
    experiment = edited(lambda _: None)
    host = ", host: {kind: ssh, service: etcd}"
    (home / "shop.yaml").write_text(SHOP.format(environment="staging", host=host))
    said = brownout("check", experiment, "--cluster", "shop.yaml")
    assert said.code == 0, said.err
    assert "ok  shop.yaml  (inventory)" in said.out

    (home / "shop.yaml").write_text(SHOP.format(environment="everywhere", host=host))
    said = brownout("check", experiment, "--cluster", "shop.yaml")
    assert said.code == 64
    assert "everywhere" in said.err

    said = brownout("check", experiment, "--cluster", "nowhere")
    assert said.code == 64
    assert "nowhere" in said.err


def test_what_an_experiment_cannot_do_on_an_inventory_is_found(
    edited: Callable[[Callable[[Document], Any]], Path], brownout: Brownout, home: Path
) -> None:
    def on_redis(experiment: Document) -> None:
        experiment["configuration"]["target"]["default"] = "master@s1"

    (home / "shop.yaml").write_text(SHOP.format(environment="staging", host=""))
    said = brownout("check", edited(on_redis), "--cluster", "shop.yaml")
    assert said.code == 64
    assert "master@s1" in said.err
