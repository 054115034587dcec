"""Time under load in which nothing is broken: a control window, and a random phase."""

from brownout.base.errors import GeneratorError
from brownout.base.wait import wait_until
from brownout.load.group import AnyGenerator
from brownout.run.events import EventLog

__all__ = ["control_window", "leave_alone"]

_STEP_S = 0.1


def control_window(log: EventLog, generator: AnyGenerator, seconds: float) -> None:
    """Let `seconds` pass as if a fault had begun, and write down from when to when.

    Raises `GeneratorError` where the load dies.
    """
    entry = log.intent("sham", "control_window")
    log.effective(entry, None, 0.0)
    leave_alone(generator, seconds)
    log.ended(entry)


def leave_alone(generator: AnyGenerator, seconds: float) -> None:
    """Let `seconds` pass under load. Raises `GeneratorError` where the load dies."""
    if wait_until(lambda: not generator.alive, seconds, _STEP_S):
        raise GeneratorError(f"before anything was broken: {generator.obituary()}")
