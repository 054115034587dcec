"""What a load has brought to a database, by the database's own word."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aerospike
import pymongo

from brownout.databases.aerospike import info
from brownout.inventory.model import Cluster

#: Of the profile: enough for some ten thousand operations.
_PROFILE_BYTES = 64 << 20
_KINDS = {"query": "read", "insert": "insert", "update": "update"}


@dataclass
class Arrived:
    """`by_set` counts what came to each collection or set as `(set, read|insert|update)`; a
    database that tells only reads from writes says `("", "read")`. `keys` counts by key.
    """

    by_set: Counter[tuple[str, str]] = field(default_factory=Counter)
    keys: Counter[Any] = field(default_factory=Counter)

    def share(self, *kinds: str, of: Iterable[str] = ()) -> float:
        """The share of operations of these kinds, of all those of some sets."""
        sets = set(of)
        here = {at: n for at, n in self.by_set.items() if not sets or at[0] in sets}
        return sum(n for at, n in here.items() if at[1] in kinds) / sum(here.values())


class MongoArrivals:
    """Profiles every operation on the database of a load."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        addresses = ",".join(node.address for node in cluster.nodes)
        uri = f"mongodb://{addresses}/?replicaSet={cluster.name}"
        self.client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(uri)
        self.database = self.client[namespace]

    @contextmanager
    def watched(self) -> Iterator[Arrived]:
        """Fill in what arrives within the block, when it ends."""
        self.database.drop_collection("system.profile")
        self.database.create_collection("system.profile", capped=True, size=_PROFILE_BYTES)
        self.database.command("profile", 2, slowms=0)
        arrived = Arrived()
        try:
            yield arrived
            self.database.command("profile", 0)
            for row in self.database["system.profile"].find({"appName": "brownout"}):
                self._count(row, arrived)
        finally:
            self.database.command("profile", 0)
            self.database.drop_collection("system.profile")

    def _count(self, row: Mapping[str, Any], arrived: Arrived) -> None:
        name, kind = str(row["ns"]).partition(".")[2], _KINDS.get(str(row["op"]))
        if kind is None or name == "meta":
            return
        arrived.by_set[name, kind] += 1
        command = row["command"]
        asked = command.get("filter") or command.get("q") or {}
        if "_id" in asked:
            arrived.keys[asked["_id"]] += 1

    def sizes(self, *names: str) -> tuple[int, int]:
        """How many documents collections hold, and their bytes in all, as BSON."""
        count = total = 0
        for name in names:
            sums = {"_id": None, "n": {"$sum": 1}, "bytes": {"$sum": {"$bsonSize": "$$ROOT"}}}
            for row in self.database[name].aggregate([{"$group": sums}]):
                count, total = count + row["n"], total + row["bytes"]
        return count, total

    def records(self, ids: Iterable[str]) -> Iterator[Mapping[str, Any]]:
        """The plain records of some keys."""
        yield from self.database["data"].find({"_id": {"$in": list(ids)}})

    def count(self, name: str) -> int:
        """How many documents a collection holds."""
        return self.database[name].count_documents({})

    def close(self) -> None:
        """Disconnect."""
        self.client.close()


class AerospikeArrivals:
    """Compares the nodes' own counts, and the generations of records."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.addresses = [node.address for node in cluster.nodes]
        self.prefix = namespace
        hosts = [(host, int(port)) for host, port in (a.split(":") for a in self.addresses)]
        self.client = aerospike.client({"hosts": hosts}).connect()
        self.server = info.ask(self.addresses[0], ["namespaces"], 5)["namespaces"].split(";")[0]

    @contextmanager
    def watched(self) -> Iterator[Arrived]:
        """Fill in what arrives within the block, when it ends."""
        before, arrived = self._counts(), Arrived()
        yield arrived
        for kind, n in (self._counts() - before).items():
            arrived.by_set["", kind] = n

    def _counts(self) -> Counter[str]:
        command = f"namespace/{self.server}"
        found: Counter[str] = Counter()
        for address in self.addresses:
            answer = info.ask(address, [command], 5)[command]
            numbers = dict(pair.split("=", 1) for pair in answer.split(";") if "=" in pair)
            for kind in ("read", "write"):
                found[kind] += int(numbers[f"client_{kind}_success"])
        return found

    def writes(self, ids: Iterable[str]) -> Counter[str]:
        """How often each plain key was written after it was loaded: its generation less one."""
        found: Counter[str] = Counter()
        for record in self._read("data", ids):
            found[record[0][2]] = record[1]["gen"] - 1
        return found

    def records(self, ids: Iterable[str]) -> Iterator[Mapping[str, Any]]:
        """The plain records of some keys."""
        for record in self._read("data", ids):
            yield record[2]

    def _read(self, name: str, ids: Iterable[str]) -> Iterator[Any]:
        place = (self.server, f"{self.prefix}-{name}")
        for one in ids:
            key, meta, bins = self.client.get((*place, one))
            yield (*key[:2], one), meta, bins

    def count(self, name: str) -> int:
        """How many records a set has, all copies counted."""
        return self._of_set(name, "objects")

    def sizes(self, *names: str) -> tuple[int, int]:
        """How many records sets hold, and what they take on the devices, all copies counted."""
        objects = sum(self._of_set(name, "objects") for name in names)
        return objects, sum(self._of_set(name, "data_used_bytes") for name in names)

    def _of_set(self, name: str, what: str) -> int:
        command, total = f"sets/{self.server}", 0
        for address in self.addresses:
            for line in info.ask(address, [command], 5)[command].split(";"):
                numbers = dict(pair.split("=", 1) for pair in line.split(":") if "=" in pair)
                if numbers.get("set") == f"{self.prefix}-{name}":
                    total += int(numbers[what])
        return total

    def close(self) -> None:
        """Disconnect."""
        self.client.close()
