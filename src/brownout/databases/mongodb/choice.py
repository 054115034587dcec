"""The words for targets on MongoDB."""

from brownout.databases.choice import Targets

__all__ = ["TARGETS"]

TARGETS = Targets()
