"""The address at which a run, a load or a server of schedules shows its pages to Prometheus."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from brownout.base.errors import BrownoutError
from brownout.observe import targets
from brownout.observe.server import Server

__all__ = ["Serving", "metrics_shown"]


class Serving:
    """Serves `pages` of `run` on `listen`, host:port, from now on until `end`.

    Raises `ConfigurationError` where it cannot listen there.
    """

    def __init__(self, listen: str, run: str, pages: Mapping[str, Callable[[], str]]) -> None:
        self._run = run
        self._server = Server(listen, pages)
        try:
            targets.register(run, self._server.address, os.getpid())
        except BaseException:
            self._server.close()
            raise
        #: Where its metrics are.
        self.url = f"http://{self._server.address}/metrics"

    def end(self, *, last_look: bool) -> None:
        """Stop, after those who ask regularly had a `last_look`."""
        if last_look:
            self._server.await_last_look()
        try:
            targets.unregister(self._run)
        finally:
            self._server.close()


@contextmanager
def metrics_shown(
    listen: str, run: str, say: Callable[[str], None], metrics: Callable[[], str]
) -> Iterator[None]:
    """Show the `metrics` of `run` while the block lasts; nowhere where `listen` is empty.

    `say` gets the address, or why they cannot be shown; the block runs in any case.
    """
    serving = None
    try:
        if listen:
            serving = Serving(listen, run, {"/metrics": metrics})
            say(f"metrics: {serving.url}")
    except (BrownoutError, OSError) as error:
        say(f"metrics are not shown: {error}")
    try:
        yield
    finally:
        if serving is not None:
            serving.end(last_look=False)
