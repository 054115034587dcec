"""The one session of this process: Chaos Toolkit runs one experiment a process."""

from typing import TYPE_CHECKING

from brownout.base.errors import ConfigurationError

if TYPE_CHECKING:
    from brownout.session.session import Session

__all__ = ["current", "is_open", "set_current"]

_session: "Session | None" = None


def set_current(session: "Session | None") -> None:
    """Make `session` the one that activities act through; None closes it."""
    global _session
    _session = session


def is_open() -> bool:
    """Say whether a run is open in this process."""
    return _session is not None


def current() -> "Session":
    """Return the open session.

    Raises `ConfigurationError` where the experiment does not declare our control, which opens it.
    """
    if _session is None:
        raise ConfigurationError(
            "no brownout run is open in this process",
            "declare the control `brownout.control` in the experiment's `controls`, "
            "or see why it did not start in the log above",
        )
    return _session
