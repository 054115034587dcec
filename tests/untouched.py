"""What a run must never touch, planted around the nodes of a lab, and whether it is as it was."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pymongo
from pymongo import MongoClient

from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster, Node

__all__ = ["Untouched"]

RECORDS = 2000
#: Written once when a node's storage is made, and never again: of another inode or content, the
#: directory was emptied.
_MADE_ONCE = ("WiredTiger", "storage.bson")
_LIVE = {"data", "mongod.log", "mongod.pid", "asd.log", "asd.pid", "node.log", "node.pid"}


class Untouched:
    """Decoys and records of one lab.

    Beside and above every data directory lie directories of similar names with the same files in
    them, and a link to one elsewhere; a database of its own, which is not brownout's, holds
    records that every member has.
    """

    def __init__(self, cluster: Cluster, where: Path) -> None:
        self._cluster, self._where = cluster, where
        adapter = adapter_for(cluster)
        try:
            nodes = cluster.every
            self._data = {node.name: adapter.data_directories(node)[0] for node in nodes}
        finally:
            adapter.close()
        for node in cluster.every:
            self._plant(self._data[node.name], where / "precious" / node.name)
        self._kept = list(self._kept_files())
        if cluster.database == "mongodb":
            self._write_records()
        self._before = self._sums()
        #: Databases that give their files new names and inodes as they run say nothing this way.
        self._keeps_files = cluster.database in ("mongodb", "aerospike")
        self._made = {node.name: self._made_once(node) for node in cluster.every}

    def check(self, wiped: Iterable[str], spares_too: bool) -> int:
        """Assert that all is as it was, but for the nodes that were `wiped`; return of how much.

        `spares_too` says that spares never were members, so that all that they hold is unchanged.
        """
        now = self._sums()
        changed = sorted(path for path in self._before if now.get(path) != self._before[path])
        assert not changed, f"changed: {changed[:10]}"
        assert sorted(now) == sorted(self._before)
        for node in self._cluster.every:
            made, before = self._made_once(node), self._made[node.name]
            compared = self._keeps_files and (spares_too or node in self._cluster.nodes)
            if node.name not in wiped and compared:
                assert made == before, f"the data of {node.name} is not what it was"
            self._made[node.name] = made
        if self._cluster.database == "mongodb":
            for node in self._cluster.nodes:
                found = self._records(node)
                assert found == self._expected, f"{node.name}: {found}, wanted {self._expected}"
        return len(now)

    def _plant(self, data: Path, elsewhere: Path) -> None:
        """Lay decoys around a data directory."""
        for decoy in (
            data.with_name(data.name + ".old"),
            data.with_name(data.name + "2"),
            data.with_name(data.name[:-1]),
            data.parent / "backup" / data.name,
            elsewhere / data.name,
        ):
            (decoy / "journal").mkdir(parents=True)
            for name in (*_MADE_ONCE, "mongod.lock", "test.dat", "journal/log.1"):
                (decoy / name).write_text(f"{decoy} {name}")
        (data.parent / "link").symlink_to(elsewhere / data.name)
        shutil.copytree(elsewhere, self._where / elsewhere.name / "copied", symlinks=True)

    def _kept_files(self) -> Iterator[Path]:
        """Everything in the nodes' directories and beside them that no server writes."""
        homes = {data.parent for data in self._data.values()}
        for home in sorted(homes):
            yield from (entry for entry in sorted(home.iterdir()) if not _is_live(entry))
        yield self._where

    def _sums(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for root in self._kept:
            for path in [root, *(sorted(root.rglob("*")) if not root.is_symlink() else ())]:
                found[str(path)] = _sum(path)
        return found

    def _made_once(self, node: Node) -> dict[str, Any]:
        """The inode and content of what a node's storage is made with; none of an empty one."""
        data, found = self._data[node.name], {}
        names = _MADE_ONCE if self._cluster.database == "mongodb" else sorted(_names(data))
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                file = data / name
                content = _sum(file) if self._cluster.database == "mongodb" else ""
                found[name] = (file.stat().st_ino, content)
        return found

    def _write_records(self) -> None:
        uri = ",".join(node.address for node in self._cluster.nodes)
        with _client(f"mongodb://{uri}/?replicaSet={self._set()}") as client:
            rows = [{"_id": n, "text": f"record {n} " * 5} for n in range(RECORDS)]
            everywhere = pymongo.WriteConcern(w=len(self._cluster.nodes), wtimeout=60_000)
            client["precious"].get_collection("records", write_concern=everywhere).insert_many(rows)
        self._expected = self._records(self._cluster.nodes[0])
        assert self._expected[0] == RECORDS

    def _set(self) -> str:
        address = self._cluster.nodes[0].address
        with _client(f"mongodb://{address}/?directConnection=true") as client:
            return str(client.admin.command("hello")["setName"])

    def _records(self, node: Node) -> tuple[int, str]:
        """How many records a member itself has, and the hash of all."""
        uri = f"mongodb://{node.address}/?directConnection=true&readPreference=secondaryPreferred"
        digest, count = hashlib.sha256(), 0
        with _client(uri) as client:
            for row in client["precious"]["records"].find().sort("_id"):
                digest.update(json.dumps(row, sort_keys=True).encode())
                count += 1
        return count, digest.hexdigest()


def _client(uri: str) -> MongoClient[dict[str, Any]]:
    return MongoClient(uri)


def _is_live(entry: Path) -> bool:
    return entry.name in _LIVE or entry.suffix in (".log", ".pid", ".sock")


def _names(directory: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return [path.name for path in directory.iterdir()]
    return []


def _sum(path: Path) -> str:
    """What and whose it is, by its kind, inode, mode and content."""
    status = path.lstat()
    if path.is_symlink():
        content = str(path.readlink()).encode()
    else:
        content = path.read_bytes() if path.is_file() else b""
    return f"{status.st_ino} {status.st_mode:o} {hashlib.sha256(content).hexdigest()}"
