"""What a load leaves in the database when it ends, and how to remove it."""

from dataclasses import dataclass

from brownout.load.workload import Workload

__all__ = ["Left", "left_by"]


@dataclass(frozen=True, slots=True)
class Left:
    """What is in `namespace` now: `what` in words, `remove` the command that removes it."""

    namespace: str
    what: str
    remove: str

    def __str__(self) -> str:
        return f"left in `{self.namespace}`: {self.what}; `{self.remove}` removes it"


def left_by(workload: Workload, cluster: str) -> Left:
    """Return what `workload` leaves on `cluster`, named as commands take it.

    The plain data set is used again by the next load of its shape.
    """
    parts = [f"{sum(each.keys for each in workload.data.all_sets):,} records"]
    ledger = sum(stream.ledger_keys or 0 for stream in workload.streams)
    if ledger:
        parts.append(f"{ledger:,} verified keys")
    clients = [f"`{stream.name}`" for stream in workload.streams if stream.client]
    if clients:
        parts.append(f"what the clients of {', '.join(clients)} wrote")
    if any({"insert", "vote"} & set(stream.mix) for stream in workload.streams):
        parts.append("what was inserted")
    remove = f"brownout clean --cluster {cluster}"
    if workload.namespace != "brownout":
        remove += f" --set namespace={workload.namespace}"
    return Left(workload.namespace, ", ".join(parts), remove)
