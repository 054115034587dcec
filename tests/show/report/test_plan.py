"""The plan and the command that runs it again come from what was recorded."""

import shlex
from pathlib import Path

from brownout.measure.impact import UNKNOWN
from brownout.show.report.material import Material
from brownout.show.report.plan import command, plan

RECORD = {
    "seed": 4711,
    "experiment": {"name": "node-wipe", "title": "A node dies", "ref": "abc", "target": "n1",
                   "select": "primary"},
    "cluster": {"name": "lab-mongodb"},
    "workload": {"name": "lab"},
}  # fmt: skip
JOURNAL = {
    "experiment": {
        "title": "A node dies",
        "description": "Kills the target and waits.",
        "method": [
            {"name": "kill-the-node", "pauses": {"before": 1, "after": "${downtime_s}"},
             "provider": {"func": "kill_node", "arguments": {"node": "n1"}}},
            {"name": "ask", "provider": {"type": "http", "arguments": ["x"]}},
        ],
    }
}  # fmt: skip


def test_command_repeats_cluster_seed_workload_and_target() -> None:
    line, note = command(Material(Path("run"), UNKNOWN, RECORD))
    assert shlex.split(line) == [
        "chaos", "run", "experiments/node-wipe.json", "--var", "cluster=lab-mongodb",
        "--var", "seed=4711", "--var", "workload=lab", "--var", "target=primary",
    ]  # fmt: skip
    assert "abc" in note


def test_steps_are_those_of_the_journal() -> None:
    found = plan(Material(Path("run"), UNKNOWN, RECORD, journal=JOURNAL))
    assert found is not None
    assert found.say == [
        "A node dies.",
        "Kills the target and waits.",
        "Target: n1, chosen as primary.",
    ]
    assert found.steps == [
        "kill the node: after 1 s, kill_node(node=n1), then a pause of ${downtime_s} s",
        "ask: http",
    ]


def test_without_a_journal_the_record_says_what_it_knows() -> None:
    found = plan(Material(Path("run"), UNKNOWN, RECORD))
    assert found is not None
    assert found.steps == []
    assert plan(Material(Path("run"))) is None
