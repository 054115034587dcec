"""What a fault costs of an error budget: the failures that an objective allows in its window."""

from brownout.measure.data import RunData
from brownout.measure.losses import lost_operations
from brownout.measure.view import View

__all__ = ["budget_share"]

_DAY_S = 86_400


def budget_share(view: View, data: RunData) -> float | None:
    """Return the operations lost ÷ those that may fail in `budget_days` at the baseline's rate.

    An objective of 99.95 % over 30 days at 800 operations a second allows 1,036,800 failures: a
    fault that costs 1,520 uses 0.15 % of them. None where nothing is known of the loss or rate.
    """
    lost, settings = lost_operations(view), data.settings
    rate = view.level.offered or view.level.tps
    if lost is None or not rate:
        return None
    return lost / ((1 - settings.budget_objective) * rate * settings.budget_days * _DAY_S)
