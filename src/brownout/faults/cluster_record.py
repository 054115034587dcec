"""What a run wrote down of its cluster before it touched anything: `inventory.yaml`.

    path, sha256   the inventory's file, and of which content
    declaration    what it said, with secrets as references
    members        who was, or may have been, a member before the run
    nodes          {"n1": {"machine": "4f1c…", "pid": 4711, "started_ticks": 190021}}

`heal` acts on this record, wherever it is called and whatever became of the inventory since.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

from brownout.base.errors import BrownoutError, ConfigurationError, RunDirectoryError
from brownout.base.files import replace_file
from brownout.base.settings_file import parse_yaml, read_text
from brownout.inventory import inventory, labs
from brownout.inventory.model import Cluster, Node
from brownout.machine import procfs
from brownout.machine.host import host_for

__all__ = ["FILE", "ClusterRecord", "differences", "moved", "unproven", "write"]

FILE = "inventory.yaml"
#: Where a machine says which one it is, whatever its address leads to.
_MACHINE_ID = Path("/etc/machine-id")


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """The cluster of a run as it was before the run; see the module."""

    path: str
    sha256: str
    declaration: Mapping[str, Any]
    members: tuple[str, ...] = ()
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, run: Path) -> Self | None:
        """Return the record of a run; None where it is gone or torn.

        Raises `RunDirectoryError` where it is there and cannot be read.
        """
        try:
            data = yaml.safe_load((run / FILE).read_text("utf-8"))
            return cls(**{**data, "members": tuple(data["members"])})
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunDirectoryError(
                f"{run / FILE}: cannot be read: {error.strerror}",
                "without it nothing shows which nodes the run was on; see why, then try again",
            ) from error
        except (ValueError, TypeError, KeyError, yaml.YAMLError):
            return None

    @property
    def removable(self) -> frozenset[str]:
        """The spares that were not members before the run."""
        spares = {str(node["name"]) for node in self.declaration.get("spares", ())}
        return frozenset(spares - set(self.members))

    def cluster(self) -> Cluster:
        """Return the recorded cluster; `ConfigurationError` where a file that it needs is gone."""
        return inventory.parse(self.declaration, Path(self.path))

    def present(self) -> Cluster | None:
        """Return what the same file says now; None where it is gone or cannot be read."""
        try:
            return inventory.declared(Path(self.path))
        except BrownoutError:
            return None

    def some_process_lives(self) -> bool:
        """Whether one of the recorded processes still runs, of those on this machine."""
        return any(
            (identity := procfs.identify(int(seen.get("pid") or 0))) is not None
            and identity.started == seen.get("started_ticks")
            for seen in self.nodes.values()
        )


def write(
    run: Path, name_or_path: str | Path, cluster: Cluster, *, look: bool = True
) -> ClusterRecord:
    """Write the record of `cluster`, which `name_or_path` means, into `run`; return it.

    `look` asks each node's host which machine and process it is; a load breaks none of them.
    Raises `ConfigurationError` where the inventory's file was changed since it was read.
    """
    path = _file_of(name_or_path, cluster)
    text = read_text(path, "inventory")
    declaration = parse_yaml(text, str(path))
    if changes := differences(cluster, inventory.parse(declaration, path)):
        raise ConfigurationError(
            f"{path} was changed while the run began: {'; '.join(changes)}", "start it again"
        )
    nodes = {node.name: _seen(node) for node in cluster.every} if look else {}
    spares = [node.name for node in cluster.spares if nodes.get(node.name) != _STOPPED]
    record = ClusterRecord(
        str(path),
        hashlib.sha256(text.encode()).hexdigest(),
        declaration,
        (*(node.name for node in cluster.nodes), *spares),
        {name: seen for name, seen in nodes.items() if seen},
    )
    data = {**asdict(record), "members": list(record.members)}
    replace_file(run / FILE, yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    return record


def differences(recorded: Cluster, present: Cluster) -> list[str]:
    """Return in words where `present` means another cluster or other nodes than `recorded`."""
    changes = [
        f"its {what}: recorded `{before}`, now `{now}`"
        for what, before, now in (
            ("name", recorded.name, present.name),
            ("database", recorded.database, present.database),
        )
        if before != now
    ]
    nodes = {node.name: node for node in present.every}
    for node in recorded.every:
        now = nodes.get(node.name)
        if now is None:
            changes.append(f"node `{node.name}`: recorded {_place(node)}, now not listed")
        elif _place(now) != _place(node):
            changes.append(f"node `{node.name}`: recorded {_place(node)}, now {_place(now)}")
    return changes


def moved(record: ClusterRecord, nodes: Iterable[Node]) -> list[str]:
    """Return in words which of `nodes` lead to another machine than before the run."""
    changes = []
    for node in nodes:
        before = record.nodes.get(node.name, {}).get("machine")
        now = _machine(node) if before else ""
        if now and now != before:
            changes.append(
                f"node `{node.name}` at {_place(node)}: recorded the machine {before}, now {now}"
            )
    return changes


def unproven(record: ClusterRecord, nodes: Iterable[Node]) -> list[str]:
    """Return which of `nodes` may lead to another machine by now: theirs had not said its id."""
    return [node.name for node in nodes if record.nodes.get(node.name, {}).get("machine") == ""]


#: A spare that its host says does not run, and so was not a member.
_STOPPED: dict[str, Any] = {"pid": None}


def _file_of(name_or_path: str | Path, cluster: Cluster) -> Path:
    """Return the file that the cluster with its nodes was read from; of a lab, the lab's own."""
    running = labs.running_inventory(cluster.name) if cluster.lab is not None else None
    return running or inventory.path_of(name_or_path)


def _seen(node: Node) -> dict[str, Any]:
    """Return which machine and process a node is; nothing where its host does not say."""
    if node.host is None:
        return {}
    try:
        state = host_for(node).running()
    except BrownoutError:
        return {}
    if not state.running:
        return dict(_STOPPED)
    process = {"pid": state.pid, "started_ticks": state.evidence.get("started_ticks")}
    return {"machine": _machine(node), **process}


def _machine(node: Node) -> str:
    """Return the id of a node's machine; empty where it has none or does not answer."""
    try:
        return host_for(node).read_text(_MACHINE_ID).strip()
    except BrownoutError:
        return ""


def _place(node: Node) -> str:
    """Say where a node is: `10.0.0.3:7000 (ssh: service stoned on 10.0.0.3:22)`."""
    if node.host is None:
        return node.address
    process = node.host.process(node.address)
    return f"{node.address} ({node.host.kind}{': ' if process else ''}{process})"
