"""Whether registers were linearizable, as the generator's checks of all streams come to."""

import json
from pathlib import Path
from typing import Any

import pytest

from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

END = {"end": True, "keys": 1, "read": 1, "sampled": False}


def history(**more: Any) -> dict[str, Any]:
    counts = {"registers": 60, "operations": 900, "nonlinearizable": 0, "unknown": 0}
    return {"history": "orders", **counts, "seconds": 0.25, **more}


def broken(key: str = "orders:r00000007", t: Any = 31.2) -> dict[str, Any]:
    where = {"stream": "orders", "lane": "a:1", "t": t, "operation": "read 5"}
    return {"nonlinearizable": key, **where, "drawing": "history-orders-r00000007.html"}


def ledger_of(tmp_path: Path, *lines: dict[str, Any]) -> Ledger:
    path = tmp_path / "ledger.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, END]))
    return classify(read_ledger_lines(path))


def test_registers_of_all_generators_add_up(tmp_path: Path) -> None:
    first, second = history(nonlinearizable=2), history(unknown=3, why="no time", registers=40)
    ledger = ledger_of(tmp_path, first, broken("orders:r00000009", 40.5), second, broken())
    assert ledger.bounds("nonlinearizable_registers") == (2, 5)
    assert ledger.value("nonlinearizable_registers") == 2
    assert ledger.histories is not None
    assert (ledger.histories.registers, ledger.histories.seconds) == (100, 0.5)
    assert [each["t"] for each in ledger.histories.examples] == [31.2, 40.5]
    for words in ("2 of 100 registers of orders", "31.200 s", "a:1", "read 5", "of 3", "no time"):
        assert words in ledger.detail


def test_registers_that_were_all_linearizable_are_said_to_be(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, history())
    assert ledger.bounds("nonlinearizable_registers") == (0, 0)
    assert "all 60 registers of orders were linearizable, in 900 operations" in ledger.detail


def test_without_a_history_nothing_is_known(tmp_path: Path) -> None:
    assert ledger_of(tmp_path).bounds("nonlinearizable_registers") is None


@pytest.mark.parametrize(
    "damaged",
    [history(unknown="many"), history(seconds="long"), history(history=7), broken(t="late")],
    ids=["no number", "no time", "no stream", "no moment"],
)
def test_a_damaged_line_is_passed_over(damaged: dict[str, Any], tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, damaged, history())
    assert ledger.histories is not None
    assert (ledger.histories.registers, ledger.histories.examples) == (60, ())
