"""What may own the pods of a database in Kubernetes: a StatefulSet, or an operator's resource."""

from brownout.inventory.database import Operator, databases

__all__ = ["SETS", "kinds", "owners"]

#: Owns pods by itself. The others own StatefulSets.
SETS = Operator(kind="statefulset", path="statefulsets", group="/apis/apps/v1", short=("sts",))


def owners() -> list[Operator]:
    """Return everything that may own pods, the operators' resources last."""
    return [SETS, *(operator for one in databases().values() for operator in one.operators)]


def kinds() -> list[str]:
    """Return what may stand before a name: `statefulset`, and the operators' resources."""
    return [one.kind for one in owners()]
