"""The words for targets on etcd."""

from brownout.databases.choice import Targets

__all__ = ["TARGETS"]

TARGETS = Targets("leader", "follower")
