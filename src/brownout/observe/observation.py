"""One run as others see it: its page served, its target registered, its events annotated.

Whatever does not work here is reported once, and the run continues.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.inventory.observation import ObserveSpec
from brownout.measure.impact import Impact
from brownout.observe import spans
from brownout.observe.address import Serving
from brownout.observe.annotations import Annotator, annotations_of
from brownout.observe.labels import labels_of
from brownout.observe.page import Page
from brownout.observe.push import push
from brownout.observe.state import RunState
from brownout.run.directory import RunDirectory
from brownout.show.live.board import Board
from brownout.show.live.files import RunFiles

__all__ = ["Observation"]

logger = logging.getLogger("chaostoolkit")

_LAST_ANNOTATIONS_S = 10.0


class Observation:
    """Shows the run in `directory` from now on until `end`.

    `board` is the picture of the moment, `now` the run's own clock (None before the load), `load`
    the generator's metrics as text.
    """

    def __init__(
        self,
        spec: ObserveSpec,
        directory: Path,
        board: Callable[[], Board],
        now: Callable[[], float | None],
        load: Callable[[], str],
    ) -> None:
        self._spec, self._run, self._directory = spec, directory.name, directory
        self._files, self._board, self._now = RunFiles(directory), board, now
        self._began: float | None = None
        self._impact: Impact | None = None
        self._page = Page(self.state, load)
        self._serving: Serving | None = None
        self._annotator: Annotator | None = None
        _try(self._serve)
        _try(self._annotate)

    def state(self) -> RunState:
        """Return what is known of the run now."""
        return RunState(
            self._files.record(),
            self._board(),
            self._files.events(),
            self._started_at(),
            self._impact,
        )

    def judged(self, impact: Impact) -> None:
        """Show the verdict from now on, and push it and the run's trace where that is wanted."""
        self._impact = impact
        gateway = self._spec.pushgateway
        if gateway is not None:
            _try(lambda: push(gateway, self._run, self._page.metrics()))
        if spans.is_wanted():
            _try(lambda: spans.export(*spans.run_spans(RunDirectory(self._directory), impact)))

    def end(self) -> None:
        """Stop showing the run, once those who watch it have seen its end. Safe to repeat."""
        annotator, self._annotator = self._annotator, None
        if annotator is not None:
            _try(lambda: annotator.end(_LAST_ANNOTATIONS_S))
        serving, self._serving = self._serving, None
        if serving is not None:
            _try(lambda: serving.end(last_look=self._impact is not None))

    def _serve(self) -> None:
        if self._spec.listen:
            pages = {"/metrics": self._page.metrics, "/board": self._page.board}
            self._serving = Serving(self._spec.listen, self._run, pages)
            logger.info(f"metrics: {self._serving.url}")

    def _annotate(self) -> None:
        if self._spec.grafana is None:
            return
        from brownout.observe.grafana import GrafanaBoard

        board = GrafanaBoard(self._spec.grafana)
        self._annotator = Annotator(board, self._annotations)

    def _annotations(self) -> Any:
        state = self.state()
        return annotations_of(state, labels_of(state.record))

    def _started_at(self) -> float | None:
        """When t was 0, by this machine's clock; told once, so that no later step of it shows."""
        now = self._now()
        if self._began is None and now is not None:
            self._began = time.time() - now
        return self._began


def _try(step: Callable[[], None]) -> None:
    """Do one step; whatever becomes of it, a bug of ours too, the run does not hang on it."""
    try:
        step()
    except (BrownoutError, OSError) as error:
        logger.warning(f"{error}; the run continues without it")
    except Exception:
        logger.exception("the run cannot be shown to others; it continues")
