"""A control that sends a Ctrl-C where Chaos Toolkit has caught the first signal and begun to end.

There a second one ended `chaos run` without a rollback and without the controls' end.
"""

import logging
import os
import signal
from typing import Any

from chaoslib.run import EventHandlerRegistry, RunEventHandler

__all__ = ["configure_control"]

logger = logging.getLogger("chaostoolkit")


class _Again(RunEventHandler):  # type: ignore[misc]
    def interrupted(self, experiment: Any, journal: Any) -> None:
        """Send it; Python acts on it before this returns."""
        logger.info("a second signal is sent")
        os.kill(os.getpid(), signal.SIGINT)


def configure_control(event_registry: EventHandlerRegistry, **_: Any) -> None:
    """Have it sent when the run is interrupted."""
    event_registry.register(_Again())
