"""What a node holds, of its own numbers. Pure."""

from collections.abc import Mapping

from brownout.databases.aerospike.view import View
from brownout.run.balance import Holding

__all__ = ["holding_of"]

#: By version and storage: since 7.0, devices before it, memory before it.
_BYTES = ("data_used_bytes", "device_used_bytes", "memory_used_bytes")


def holding_of(view: View) -> Holding | None:
    """Return what a node holds in all namespaces; None if it does not say.

    It tells nothing of what is to be moved while it is in no cluster.
    """
    records = view.total("objects")
    used = [_bytes(numbers) for numbers in view.namespaces.values()]
    if records is None or None in used:
        return None
    moving = view.total("migrate_tx_partitions_remaining", "migrate_rx_partitions_remaining")
    received = view.total("migrate_record_receives")
    return Holding(records, sum(filter(None, used)), moving if view.key else None, received)


def _bytes(numbers: Mapping[str, str]) -> int | None:
    told = [numbers[name] for name in _BYTES if numbers.get(name, "").isdigit()]
    return int(told[0]) if told else None
