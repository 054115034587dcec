"""What is asked of the load: a dip means nothing without a level, nor the next one in its wake."""

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["baseline_is_stable", "load_is_delivered", "wait_until_held"]


@activity
def load_is_delivered(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether at least 99 % of what was offered in the baseline was served."""
    return current().baseline_test("delivered")


@activity
def baseline_is_stable(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether the baseline passed every test of stability."""
    return current().baseline_test("")


@activity
def wait_until_held(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Wait until the load has held for a while, at most `milestone_limit_s`; say whether it has.

    Between two faults of one run: how the load recovers from the first is not seen otherwise.
    """
    return current().hold()
