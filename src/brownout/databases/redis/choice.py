"""The words for targets on Redis."""

from brownout.databases.choice import Targets

__all__ = ["TARGETS"]

TARGETS = Targets("master", "replica")
