"""What an inventory says: a cluster, its nodes, and how to reach both.

    name: orders
    database: stone
    environment: test
    nodes:
      - name: n1
        address: db1.example.com:7000
    connection:
      timeout_s: 2

`docs/clusters.md` explains every setting. Models are frozen; `inventory` makes them.
"""

from collections import Counter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from brownout.base import plugins
from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings import AbsolutePath, Address, Name, Settings
from brownout.inventory.atlas import AtlasSpec
from brownout.inventory.canary import CanarySpec
from brownout.inventory.connection import Connection, LoadLogin
from brownout.inventory.hours import parse_window
from brownout.inventory.observation import ObserveSpec
from brownout.inventory.price import Price
from brownout.inventory.sentinel import SentinelSpec
from brownout.inventory.streaming import StreamingSpec

__all__ = [
    "DEFAULT_UNDO_AFTER_S",
    "Cluster",
    "Environment",
    "Guards",
    "HostSpec",
    "LabSpec",
    "Node",
    "ProcessSpec",
]
__all__ += ["ProxySpec", "ServerDirectory", "of_engine"]

Environment = Literal["lab", "test", "staging", "production"]


#: After so long a node undoes a fault by itself: longer than any intended fault, shorter than
#: people's patience with a frozen node.
DEFAULT_UNDO_AFTER_S = 120.0


class HostSpec(Settings):
    """How to reach what a node runs on. Each kind of host adds its own settings."""

    kind: str
    command: Annotated[tuple[str, ...], Field(description="starts the node's process")] = ()
    config_file: Annotated[
        AbsolutePath | None, Field(description="the node's own configuration file, on its machine")
    ] = None

    def process(self, node_address: str) -> str:
        """Say which process this is, as far as an inventory tells: no two nodes may be the same.

        Empty where it cannot be told. `node_address` is where the node's database listens.
        """
        return ""

    def undoes_after_s(self, act: str) -> float | None:
        """Return after how long the node undoes a fault by itself where no limit is given.

        `act` is the fault's, as `pause`. None where it does not, or where that is not known.
        """
        return getattr(self, "undo_after_s", None)


class ProxySpec(Settings):
    """A toxiproxy that listens at a node's address in its place, as a lab starts one."""

    name: Annotated[Name, Field(description="what the proxy calls this way")]
    control: Annotated[Address, Field(description="where it takes its orders, over HTTP")]
    upstream: Annotated[Address, Field(description="where the node's process itself listens")]


#: The setting of hosts that know a node by one process, and have to find its other ones.
ServerDirectory = Annotated[
    AbsolutePath | None,
    Field(
        description="where other processes of the node work, as a server under a supervisor: "
        "they are killed, paused and resumed with the node's own"
    ),
]


class ProcessSpec(HostSpec):
    """A process on this machine."""

    kind: Literal["process"] = "process"
    pid_file: Annotated[AbsolutePath, Field(description="where the process writes its id")]
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    working_directory: AbsolutePath | None = None
    log_file: Annotated[
        AbsolutePath | None, Field(description="gets what a process started by us prints")
    ] = None
    server_directory: ServerDirectory = None
    stop_signal: Annotated[
        Literal["SIGTERM", "SIGINT", "SIGQUIT"],
        Field(description="asks it for a clean stop"),
    ] = "SIGTERM"
    stop_timeout_s: Annotated[
        float, Field(gt=0, le=3600, description="for a clean stop to end by itself")
    ] = 60.0
    network_namespace: Annotated[
        str,
        Field(
            pattern=r"^(brownout-[a-z0-9-]+)?$",
            description="that it runs in, as a lab makes them; what can be cut off needs one",
        ),
    ] = ""
    control_group: Annotated[
        str,
        Field(
            pattern=r"^(brownout-[a-z0-9-]+)?$",
            description="for memory that it is started in, made where it is missing; what is "
            "squeezed needs one of its own",
        ),
    ] = ""
    clock_file: Annotated[
        AbsolutePath | None,
        Field(description="by which libfaketime sets its clock, as a lab makes one"),
    ] = None
    unprivileged: Annotated[
        bool,
        Field(description="if root starts it: in a user namespace in which it is `nobody`"),
    ] = False
    proxy: Annotated[
        ProxySpec | None,
        Field(description="a toxiproxy in front of it, as a lab starts one; it can slow the node"),
    ] = None

    @field_validator("command")
    @classmethod
    def _has_program(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command[0].strip():
            raise ValueError("wanted a program as its first word")
        return command

    def process(self, node_address: str) -> str:
        """Return the file of its id, which is this machine's."""
        return f"pid_file {self.pid_file}"

    def undoes_after_s(self, act: str) -> float | None:
        """Return the default of this machine; a proxy in front of a node undoes nothing."""
        return None if act == "delay" and self.proxy is not None else DEFAULT_UNDO_AFTER_S


class Node(Settings):
    """One member of the cluster."""

    name: Name
    address: Annotated[Address, Field(description="where the database listens, host:port")]
    host: Annotated[
        SerializeAsAny[HostSpec] | None,
        Field(description="what it runs on; without one it cannot be stopped, only asked"),
    ] = None
    api: Annotated[
        Address | None,
        Field(description="where its supervisor listens, host:port, for those that have one"),
    ] = None
    rack: str = ""
    shard: Annotated[
        str, Field(description="its shard, as config.shards calls it; of a sharded cluster")
    ] = ""

    @property
    def key(self) -> str:
        """What a machine knows it by: it may have nodes of one name, of other clusters."""
        return f"{self.name}-{self.address.rpartition(':')[2]}"


class LabSpec(Settings):
    """An embedded cluster that `brownout lab up` makes here. Each engine adds its own settings."""

    #: See `Cluster.limits_name`; empty for the database's own.
    LIMITS_NAME: ClassVar[str] = ""

    engine: str
    members: Annotated[int, Field(ge=1, le=7)] = 3
    spares: Annotated[
        int, Field(ge=0, le=4, description="laid out and not started, for `add_node`")
    ] = 0
    racks: Annotated[
        int, Field(ge=0, le=7, description="the members are spread over so many; 0: no racks")
    ] = 0
    stand_in: Annotated[
        bool, Field(description="written by `lab up`: not the database runs, but our stand-in")
    ] = False

    @property
    def shard_names(self) -> tuple[str, ...]:
        """The shards, each of which has so many members; an empty name means no shards."""
        return ("",)

    def rack_of(self, number: int) -> int:
        """Return the rack of node `number`, from 1: they are dealt out in turn; 0 without racks."""
        return (number - 1) % self.racks + 1 if self.racks else 0

    def changed(self, **settings: Any) -> Self:
        """Return it with other settings; `ConfigurationError` where they cannot be."""
        try:
            return type(self).model_validate({**self.model_dump(), **settings})
        except ValidationError as error:
            problems = from_validation(error, type(self))
            raise ConfigurationError(of_engine(self.engine, problems)) from error


def of_engine(engine: str, problems: list[str]) -> list[str]:
    """Return the problems of a lab's settings; which ones it may have depends on its engine."""
    unknown = ": unknown setting, "
    return [p.replace(unknown, f": unknown setting of the engine `{engine}`, ") for p in problems]


def _is_window(text: str) -> str:
    parse_window(text)
    return text


def _is_act(text: str) -> str:
    """An unknown act would deny nothing, so it is an error."""
    if text not in (acts := plugins.known(plugins.FAULTS)):
        raise ValueError(f"wanted one of {', '.join(acts)}")
    return text


def _acts_schema() -> dict[str, Any]:
    return {"type": "string", "enum": plugins.known(plugins.FAULTS)}


class Guards(Settings):
    """What this cluster's owners do not want to happen, whatever an experiment asks for."""

    max_nodes_down: Annotated[int, Field(ge=1, description="broken at the same time")] = 1
    allowed_hours: Annotated[
        tuple[Annotated[str, AfterValidator(_is_window)], ...],
        Field(description="as `Mon-Fri 09:00-16:30 Europe/Berlin`; none means any time"),
    ] = ()
    deny_nodes: Annotated[tuple[str, ...], Field(description="never to be broken")] = ()
    while_degraded: Annotated[
        bool,
        Field(
            description="whether a break may begin before the cluster is redundant again, if the "
            "run asks for that; a lab always allows it"
        ),
    ] = False
    deny_acts: Annotated[
        tuple[Annotated[str, AfterValidator(_is_act)], ...],
        Field(
            description="never to be done: acts of faults, ours and those of installed packages",
            json_schema_extra=lambda schema: schema.update(items=_acts_schema()),
        ),
    ] = ()


class Cluster(Settings):
    """A cluster to test. `nodes` is empty only for a lab that is down."""

    name: Name
    database: Annotated[str, Field(description="what runs on the nodes")]
    environment: Environment
    allow_data_loss: Annotated[
        bool | Literal["all_copies"],
        Field(
            description="whether a node's data may be wiped; `all_copies`: also where no other "
            "node has it, so that it is lost for good"
        ),
    ] = False
    guards: Guards = Guards()
    nodes: tuple[Node, ...] = ()
    spares: Annotated[
        tuple[Node, ...],
        Field(description="no members, and not running, until an experiment adds them"),
    ] = ()
    coordination: Annotated[
        tuple[Address, ...],
        Field(
            description="where what the members depend on listens and is not a member, host:port, "
            "as the store of their supervisors: `cut_off` cuts a node off from it"
        ),
    ] = ()
    connection: Connection = Connection()
    atlas: Annotated[
        AtlasSpec | None, Field(description="how Atlas is asked, where it runs the cluster")
    ] = None
    streaming: Annotated[
        StreamingSpec | None,
        Field(
            description="of a database whose standbys stream and which nothing supervises: what "
            "moves its primary; `{}` where nothing does"
        ),
    ] = None
    sentinel: Annotated[
        SentinelSpec | None,
        Field(description="of a database that sentinels watch: who promotes a replica"),
    ] = None
    load: Annotated[
        SerializeAsAny[Settings] | None,
        Field(description="where the load comes from; by default this machine (docs/ssh.md)"),
    ] = None
    canary: Annotated[
        CanarySpec | None,
        Field(description="another client beside every load (docs/client.md)"),
    ] = None
    observe: Annotated[
        ObserveSpec, Field(description="Prometheus, Grafana, exporters (docs/dashboards.md)")
    ] = ObserveSpec()
    lab: SerializeAsAny[LabSpec] | None = None
    price: Annotated[Price | None, Field(description="what it costs, for results per money")] = None
    labels: dict[str, str] = Field(default_factory=dict)

    @field_validator("nodes", "spares")
    @classmethod
    def _are_distinct(cls, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        problems = _same(nodes)
        if problems:
            raise ValueError("; ".join(problems))
        return nodes

    @model_validator(mode="after")
    def _has_nodes(self) -> "Cluster":
        if not self.nodes and self.lab is None:
            raise ValueError("found neither nodes nor lab, wanted one of them")
        shared = _same(self.every) if not _same(self.nodes) and not _same(self.spares) else []
        if shared:
            raise ValueError(f"nodes and spares: {'; '.join(shared)}")
        bare = [node.name for node in self.spares if node.host is None]
        if bare:
            raise ValueError(f"spares: {', '.join(bare)} has no host, wanted how to start it")
        _check_shards(self.nodes, self.spares, self.connection)
        unknown = sorted(set(self.guards.deny_nodes) - {node.name for node in self.every})
        if self.nodes and unknown:
            raise ValueError(f"guards.deny_nodes: found {', '.join(unknown)}, no node of this file")
        if isinstance(self.load, LoadLogin) and self.load.auth is not None:
            self.connection.check_login(self.load.auth, "load.auth: ")
        if self.sentinel is not None:
            self._check_sentinels(self.sentinel)
        return self

    def _check_sentinels(self, sentinel: SentinelSpec) -> None:
        """Raise `ValueError` with what cannot be beside sentinels."""
        wrong = []
        if self.coordination:
            wrong.append("coordination: wanted none: the sentinels are what the nodes depend on")
        if self.connection.hosts:
            wrong.append("connection.hosts: wanted none: clients ask the sentinels for the master")
        if self.spares:
            wrong.append("spares: wanted none: brownout adds no node where sentinels watch")
        if sharded := [node.name for node in self.nodes if node.shard]:
            wrong.append(f"nodes: {', '.join(sharded)} names a shard: sentinels watch one master")
        both = sorted({node.address for node in self.nodes} & set(sentinel.addresses))
        if both:
            wrong.append(f"sentinel.addresses: found {', '.join(both)}, which is a node's address")
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def limits_name(self) -> str:
        """What limits for it are called after their scenario: its database, or how that is run."""
        if self.lab is not None and self.lab.LIMITS_NAME:
            return self.lab.LIMITS_NAME
        return self.database if self.sentinel is None else f"{self.database}-sentinel"

    @property
    def coordinators(self) -> tuple[Address, ...]:
        """Where what the members depend on listens: `coordination`, or the sentinels."""
        return self.sentinel.addresses if self.sentinel is not None else self.coordination

    @property
    def every(self) -> tuple[Node, ...]:
        """The members and, after them, the spares."""
        return (*self.nodes, *self.spares)

    @property
    def as_the_load(self) -> "Cluster":
        """The cluster as the load logs in to it: as itself where `load.auth` says nothing."""
        auth = self.load.auth if isinstance(self.load, LoadLogin) else None
        if auth is None:
            return self
        connection = self.connection.model_copy(update={"auth": auth})
        return self.model_copy(update={"connection": connection})

    def node(self, name: str) -> Node:
        """Return the node called `name`, a spare too; `ConfigurationError` with the known ones."""
        for node in self.every:
            if node.name == name:
                return node
        listed = ", ".join(n.name for n in self.every) or "none"
        raise ConfigurationError(f"cluster `{self.name}` has no node `{name}`; it has {listed}")

    def public(self) -> dict[str, Any]:
        """Return what a run may record: who and how many, nothing of how to log in."""
        return {
            "name": self.name,
            "database": self.database,
            "environment": self.environment,
            "allow_data_loss": self.allow_data_loss,
            "members": len(self.nodes),
            "nodes": [_public(node) for node in self.nodes],
            "spares": [_public(node) for node in self.spares],
            "labels": dict(self.labels),
        }


def _check_shards(
    nodes: tuple[Node, ...], spares: tuple[Node, ...], connection: Connection
) -> None:
    """Raise `ValueError` unless all nodes name a shard, and the routers are named, or none does."""
    bare = [node.name for node in nodes if not node.shard]
    if len(bare) == len(nodes):
        return
    if bare:
        raise ValueError(f"nodes: {', '.join(bare)} names no shard, and others do")
    if connection.uri is None and not connection.hosts:
        raise ValueError("nodes name shards: wanted the routers in connection.hosts")
    if connection.replica_set or spares:
        raise ValueError("nodes name shards: wanted neither connection.replica_set nor spares")


def _public(node: Node) -> dict[str, str]:
    return {"name": node.name, "address": node.address, "rack": node.rack}


def _same(nodes: tuple[Node, ...]) -> list[str]:
    """Return in words what no two nodes may share and do."""
    problems = [*_twice("name", [n.name for n in nodes])]
    problems += _twice("address", [n.address for n in nodes])
    processes = [n.host.process(n.address) for n in nodes if n.host]
    return problems + _twice("host", [process for process in processes if process])


def _twice(what: str, values: list[str]) -> list[str]:
    return [f"{what} {value!r} is there {n} times" for value, n in Counter(values).items() if n > 1]
