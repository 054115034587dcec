"""What a test of resilience ends in where it neither passed nor failed by its own assertions."""

from brownout.base.errors import BrownoutError, Inconclusive

__all__ = ["ClusterShared", "NoSuchMeasure", "NotMeasured", "ResilienceFailed", "RunInconclusive"]


class RunInconclusive(Inconclusive):
    """The run cannot be judged, so nothing may be asserted of it."""


class NotMeasured(Inconclusive):
    """The measure is not known of this run; it must not pass as None or 0."""


class NoSuchMeasure(AttributeError):
    """There is no measure of this name."""


class ResilienceFailed(AssertionError):
    """A run failed by the experiment's own limits, or a gate failed."""


class ClusterShared(BrownoutError):
    """Two workers of pytest-xdist want the same cluster."""
