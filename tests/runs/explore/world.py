"""A world whose truth is known, explored without a cluster."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from tests.impacts import made

from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.measure.impact import Impact
from brownout.runs import repair
from brownout.runs.explore import conduct as conducting
from brownout.runs.explore.conduct import conduct
from brownout.runs.explore.draw import Space
from brownout.runs.explore.record import Record
from brownout.session.experiment_process import Outcome

__all__ = ["FAULTS", "LAB", "SPACE", "Process", "explore", "loses_after_kill_and_pause"]

LAB = "lab-mongodb"
FAULTS: dict[str, dict[str, Any]] = {"kill_node": {}, "pause_node": {}, "stop_node": {}}
SPACE = Space(FAULTS, ("primary", "secondary"))

World = Callable[[list[tuple[str, str]]], bool]


def loses_after_kill_and_pause(breaks: list[tuple[str, str]]) -> bool:
    """It takes a kill of the primary and any later pause, whatever else happens."""
    kills = [n for n, each in enumerate(breaks) if each == ("kill_node", "primary")]
    return any(fault == "pause_node" for n in kills for fault, _ in breaks[n + 1 :])


class Process:
    """Stands for `chaos run`: a run in the world, which loses writes as its truth says."""

    def __init__(self, world: World, ends: Iterator[str], garbles: object) -> None:
        self._world, self._ends, self._garbles = world, ends, garbles
        self.experiments: list[Path] = []

    def __call__(self, experiment: Path, variables: Sequence[str], **_: Any) -> Self:
        self.experiments.append(experiment)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def outcome(self) -> Outcome:
        end = next(self._ends, "")
        if end == "killed":
            raise KeyboardInterrupt
        if end == "no effect":
            return Outcome(
                Path("runs") / f"run-{len(self.experiments)}", made({"faults": []}), None
            )
        if end == "not begun":
            return Outcome(None, None, None)
        document = json.loads(self.experiments[-1].read_text(encoding="utf-8"))
        if end == "not read back":
            impact = _impact(document, lambda _: False, None)
            unread = replace(impact, ledger=replace(impact.ledger, state="unknown"))
            return Outcome(Path("runs") / f"run-{len(self.experiments)}", unread, None)
        impact = _impact(document, self._world, self._garbles)
        unmended = "n1 is still frozen" if "not put back" in end else None
        if end.startswith("aborted"):
            impact = replace(impact, verdict="aborted")
        return Outcome(Path("runs") / f"run-{len(self.experiments)}", impact, unmended)


def _impact(experiment: dict[str, Any], world: World, garbles: object) -> Impact:
    """All faults took effect, and what the world says became of acknowledged writes.

    The fault that `garbles` has answers fail their checksum if it is alone.
    """
    first = experiment["configuration"]["target"]
    breaks = []
    for activity in experiment["method"]:
        fault = activity["provider"]["func"]
        if fault in FAULTS:
            node = activity["provider"]["arguments"]["node"]
            breaks.append((fault, first if node == "target" else node))
    events = [
        {"type": "break", "name": fault, "node": "n1", "requested": 20.0 + n, "effective": 20.0 + n}
        for n, (fault, _) in enumerate(breaks)
    ]
    ledger: dict[str, Any] = {"state": "lost", "lost": 3} if world(breaks) else {}
    if breaks == [garbles]:
        ledger["garbled_answers"] = 2
    return made({"faults": [{"events": events}], "ledger": ledger})


@pytest.fixture
def explore(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[Process, Callable[[Record], list[str]]]]:
    """Explore a scripted world; `ends` are how its first processes end."""
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / "runs"))
    clock = iter(range(0, 10_000_000, 40))

    class Silent:
        def close(self) -> None:
            pass

        def engine(self) -> str:
            return "mongod 6.0.5"

    def clusters(declared: Cluster, **_: Any) -> tuple[Cluster, bool]:
        return declared.model_copy(update={"nodes": ("n1",)}), True

    monkeypatch.setattr(lab, "ensure", clusters)
    monkeypatch.setattr(conducting, "adapter_for", lambda _: Silent())
    monkeypatch.setattr(conducting, "space_of", lambda *_: SPACE)
    monkeypatch.setattr(conducting, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(repair, "await_whole", lambda *_: "")
    monkeypatch.setattr(repair, "put_back", lambda *_: None)
    monkeypatch.setattr(repair, "take_down", lambda *_: None)
    monkeypatch.setattr(lab, "down", lambda *_, **__: True)
    monkeypatch.setattr(conducting, "NOT_BEGUN_PAUSE_S", 0)

    def scripted(
        world: World = loses_after_kill_and_pause,
        ends: Sequence[str] = (),
        garbles: tuple[str, str] | None = None,
    ) -> tuple[Process, Callable[[Record], list[str]]]:
        process = Process(world, iter(ends), garbles)
        monkeypatch.setattr(conducting, "ExperimentProcess", process)

        def run(record: Record) -> list[str]:
            words: list[str] = []
            conduct(record, words.append)
            return words

        return process, run

    return scripted
