"""The words for targets on PostgreSQL and Patroni."""

from brownout.databases.choice import Targets

__all__ = ["TARGETS"]

TARGETS = Targets(secondary="replica", others={"leader": "primary", "standby": "secondary"})
