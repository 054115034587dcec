"""What every part of a workload file is made of."""

from typing import Any, Final, TypeGuard

from brownout.base.settings import StrictSettings as Settings

__all__ = ["Settings", "is_number"]

#: Larger numbers are no setting of anything; not a number is larger than it, too.
_MOST: Final = 1e15


def is_number(value: Any) -> TypeGuard[float]:
    """Say whether a raw value is a number that can be reckoned with; `true` is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
