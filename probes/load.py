"""What is asked of the load before anything is broken: a dip means nothing without a level."""

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["baseline_is_stable", "load_is_delivered"]


@activity
def load_is_delivered(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether at least 99 % of what was offered in the baseline was served."""
    return current().baseline_test("delivered")


@activity
def baseline_is_stable(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether the baseline passed every test of stability."""
    return current().baseline_test("")
