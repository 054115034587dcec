"""What every action and probe shares: errors as Chaos Toolkit wants them, and interruptions."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from chaoslib.exceptions import ActivityFailed, InterruptExecution

from brownout.base.errors import BrownoutError
from brownout.session.current import current, is_open
from brownout.session.interruption import cause_of

__all__ = ["activity"]

P = ParamSpec("P")
R = TypeVar("R")


def activity(function: Callable[P, R]) -> Callable[P, R]:
    """Make `function` an activity: our errors become `ActivityFailed`, an interruption is kept.

    chaostoolkit-lib 1.44 turns the `InterruptExecution` of a SIGTERM inside an activity into a
    failed activity and goes on; so it is noted here, and the control stops at the next activity.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BrownoutError as error:
            if is_open():
                current().interruption.fail(f"{function.__name__}: {error}")
            raise ActivityFailed(f"{function.__name__}: {error}") from error
        except (InterruptExecution, SystemExit, KeyboardInterrupt) as signal:
            if is_open():
                current().interruption.abort(cause_of(signal))
            raise

    return guarded
