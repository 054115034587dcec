"""Grafana annotations of a run: each event with start, end, node and evidence.

A break is a region from its effect until its undo; everything else is a moment.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brownout.observe.state import RunState

__all__ = ["Annotation", "Annotator", "Board", "annotations_of"]

logger = logging.getLogger("chaostoolkit")

POLL_S = 1.0
_EVIDENCE_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation; times are Unix milliseconds, `end_ms` None while it lasts or for a moment.

    `key` is the event's id, the same whenever the event is told again.
    """

    key: str
    start_ms: int
    end_ms: int | None
    text: str
    tags: tuple[str, ...]


class Board(Protocol):
    """What takes annotations. Each may raise any `Exception`."""

    def add(self, annotation: Annotation) -> int:
        """Write a new one; return its id there."""

    def change(self, id: int, annotation: Annotation) -> None:
        """Write over the one with `id`."""


def annotations_of(state: RunState, labels: Mapping[str, str]) -> list[Annotation]:
    """Return what is to be annotated of a run so far."""
    if state.started_at is None:
        return []
    base = ("brownout", *(labels[name] for name in ("run", "experiment", "cluster")))
    ends = {(fault.name, fault.node, fault.start): fault.end for fault in state.faults()}
    result = []
    for event in state.events:
        start = event.effective
        if event.type in ("milestone", "phase", "abort"):
            start = event.fields.get("first_yes", event.requested)
        if start is None or event.type not in ("break", "mend", "milestone", "phase", "abort"):
            continue
        end = ends.get((event.name, event.node or "", start)) if event.type == "break" else None
        node = (f"node:{event.node}",) if event.node else ()
        tags = (*base, event.type, event.name, *node)
        text = _text(event.name, event.node, event.evidence, event.error)
        moments = [_ms(state.started_at, t) for t in (start, end)]
        result.append(Annotation(str(event.id), moments[0] or 0, moments[1], text, tags))
    if state.impact is not None and result:
        reasons = "; ".join(state.impact.reasons)
        text = f"verdict: {state.verdict}" + (f" ({reasons})" if reasons else "")
        last = max(a.end_ms or a.start_ms for a in result)
        result.append(Annotation("verdict", last, None, text, (*base, "verdict", state.verdict)))
    return result


def _ms(began: float, t: float | None) -> int | None:
    return None if t is None else round(1000 * (began + t))


def _text(name: str, node: str | None, evidence: Mapping[str, Any], error: str | None) -> str:
    words = name.replace("_", " ") + (f" {node}" if node else "")
    if error:
        return f"{words}: FAILED: {error}"
    proof = json.dumps(evidence, ensure_ascii=False, default=str) if evidence else ""
    if len(proof) > _EVIDENCE_CHARACTERS:
        proof = proof[:_EVIDENCE_CHARACTERS] + " … (events.ndjson has all of it)"
    return words + (f"\n{proof}" if proof else "")


class Annotator:
    """Keeps a board's annotations of one run up to date, in a thread of its own.

    A board that refuses or is silent is said once, and again at the end with a count; it stops
    nothing.
    """

    def __init__(self, board: Board, wanted: Callable[[], list[Annotation]]) -> None:
        self._board, self._wanted = board, wanted
        self._written: dict[str, tuple[int, Annotation]] = {}
        self._stopped = threading.Event()
        self._failed = ""
        self._thread = threading.Thread(target=self._go_on, name="annotations", daemon=True)
        self._thread.start()

    def end(self, within_s: float) -> None:
        """Write what is still missing, for `within_s` seconds at most, and stop."""
        self._stopped.set()
        self._thread.join(within_s)
        missing = len(self._wanted()) - len(self._written)
        if missing > 0:
            reason = self._failed or "it was too slow"
            logger.warning(f"{missing} annotations are not in Grafana: {reason}")

    def _go_on(self) -> None:
        while not self._stopped.wait(POLL_S):
            self._write()
        self._write()

    def _write(self) -> None:
        try:
            for annotation in self._wanted():
                self._put(annotation, self._written.get(annotation.key))
        except Exception as error:  # and no more of them now: the next would wait as long
            self._say(f"{type(error).__name__}: {error}")

    def _put(self, annotation: Annotation, written: tuple[int, Annotation] | None) -> None:
        if written is None:
            self._written[annotation.key] = self._board.add(annotation), annotation
        elif written[1] != annotation:
            self._board.change(written[0], annotation)
            self._written[annotation.key] = written[0], annotation

    def _say(self, problem: str) -> None:
        if not self._failed:
            logger.warning(f"Grafana takes no annotation: {problem}; the run continues")
        self._failed = problem
