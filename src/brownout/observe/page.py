"""What a run shows to others: its metrics as text, its board as JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from pydantic import TypeAdapter

from brownout.measure.document import document_of
from brownout.observe.metrics import RunCollector
from brownout.observe.state import RunState
from brownout.show.live.board import Board

__all__ = ["Page", "Shown"]


class Page:
    """The figures of one run at the moment of the request; may be asked from any thread.

    `load` gives the generator's own metrics in Prometheus's text format.
    """

    def __init__(self, state: Callable[[], RunState], load: Callable[[], str]) -> None:
        self._state, self._load = state, load
        self._registry = CollectorRegistry()
        self._registry.register(RunCollector(state))

    def metrics(self) -> str:
        """Return every metric of the run and of its load, in Prometheus's text format."""
        return generate_latest(self._registry).decode() + self._load()

    def board(self) -> str:
        """Return the board, and once the run is judged its impact, as JSON; see `Shown`."""
        state = self._state()
        impact = None if state.impact is None else document_of(state.impact)
        return Shown(state.board, impact).text()


@dataclass(frozen=True)
class Shown:
    """What /board says: the board of the moment, and impact.json once there is one."""

    board: Board
    impact: dict[str, Any] | None

    def text(self) -> str:
        """Return it as JSON."""
        return TypeAdapter(Shown).dump_json(self).decode()

    @staticmethod
    def read(text: str | bytes) -> "Shown":
        """Return what `text` says; raises `ValueError` for anything that is not such JSON."""
        return TypeAdapter(Shown).validate_json(text)
