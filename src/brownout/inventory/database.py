"""A database as its package registers it: one object, under the entry points `brownout.databases`.

    [project.entry-points."brownout.databases"]
    stone = "brownout_stone:STONE"

Its name is the word that an inventory has under `database`. It is read with every inventory, also
where the database's client is not installed: what needs the client is named by a reference, as
`brownout_stone.adapter:StoneAdapter`, and imported when it is used. docs/writing-an-adapter.md
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any, Literal

from pydantic import BaseModel

from brownout.base import plugins
from brownout.base.errors import ConfigurationError
from brownout.base.extras import how_to_install
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, LabSpec

__all__ = [
    *("Database", "Image", "LabKind", "Operator", "Reading", "Server"),
    *("database", "databases", "if_secure", "later", "of_driver", "with_options"),
]

#: Returns a program that is there, or raises an error that says what to do.
Look = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One family of a database's container images: how it is known, and what is in it.

    One of `words` is part of the image's name (`stone` of `acme/hardened-stone:7`), of a folder
    before it, or of the container's name. One of `marks`, if there are any, is somewhere in the
    image's address, the command, the mounts or the names of variables. Of several families that
    fit, the first counts.

    `process` is the name of the server's process. `options` are those of its command that hold
    where nothing else is said, as `{"--dbpath": "/data/db"}`; `config_file` is the file that says
    the rest; `server_directory` is where processes under a supervisor work. `variables` maps
    variables of the environment to options, or to `server_directory` with what follows the value:
    `{"PGROOT": "server_directory/data"}`. `note` says what there is to know. `settings` are those
    of an inventory whose nodes are such containers of a Docker engine, where `note` does not hold.
    """

    words: tuple[str, ...]
    process: str
    marks: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    config_file: str = ""
    server_directory: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How a database is usually installed on a machine, for commands that write inventories.

    `images` are the families of its container images. `programs` are the words by which a command
    starts it, besides `program`; `beside_words` are in the names of containers beside it, and
    `clients` its programs that only ask or set up.
    `shard_words` mark a shard's server in its command or variables. `own_options` are the options
    of its command that say where a node keeps its data and how it rejoins. `shared_options` maps an
    option to the setting of `connection` that it holds. `other_ports` are those at which a cluster
    of it answers as well, `api_port` that of a supervisor's API. `router_words` are in the names of
    machines that lead to shards, `aside_words` in those of others that are not nodes, and
    `aside_marks` in the command or variables of such a server. `named_by` maps a setting of
    `connection` to the variables of playbooks and containers that hold it. `hints` are comments to
    write below `connection`.
    """

    program: str
    service: str
    port: int
    config_file: str
    images: tuple[Image, ...] = ()
    programs: tuple[str, ...] = ()
    beside_words: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    shard_words: tuple[str, ...] = ()
    own_options: tuple[str, ...] = ()
    shared_options: Mapping[str, str] = field(default_factory=dict)
    other_ports: tuple[int, ...] = ()
    api_port: int = 0
    router_words: tuple[str, ...] = ()
    aside_words: tuple[str, ...] = ()
    aside_marks: tuple[str, ...] = ()
    named_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """The resource of a Kubernetes operator that makes StatefulSets or pods of this database.

    People write `kind/name`; `short` are abbreviations of `kind`. `path` and `group` are those of
    the API. `label` is the pod label with the resource's name, for operators whose StatefulSets do
    not name the resource as their owner. `rack_label` is the pod label that names the rack.
    `connection` returns the connection settings that a resource holds for all nodes.

    `owns_pods` is the kind, as the API spells it, of a resource that controls its pods without a
    StatefulSet, and brings a deleted one back under its name. `unrest` then yields why it must be
    left alone now.
    """

    kind: str
    path: str
    group: str
    short: tuple[str, ...] = ()
    label: str = ""
    rack_label: str = ""
    owns_pods: str = ""
    unrest: Callable[[Mapping[str, Any]], Iterable[str]] = lambda _: ()
    connection: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _: {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabKind:
    """One kind of lab, which an inventory names by `lab.engine`.

    `settings` is the model of its settings. `engine` is a reference to the
    `brownout.databases.lab.engine.Engine` that makes its members. `packages` returns the packages
    that some settings need besides the adapter's: purpose -> (module, extra). `programs` finds the
    programs that it starts besides the members' server. `fetch` gets what no package of Python
    brings, if it is not there; it is given the settings, and what says how far it is. `start`
    starts what the members need before they start; `stop` ends whatever it starts besides its
    members. Both get the lab's directory and are safe to repeat; they must work wherever the
    database's client is installed.
    `login` holds the credentials for the lab's Atlas API, by reference.
    """

    settings: type[LabSpec]
    engine: str
    packages: Callable[[Any], Mapping[str, tuple[str, str]]] = lambda _: {}
    programs: Mapping[str, Look] = field(default_factory=dict)
    fetch: Callable[[Any, Callable[[str], None]], None] = lambda _spec, _progress: None
    start: Callable[[Any], None] = lambda _: None
    stop: Callable[[Any], None] = lambda _: None
    login: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What reads of a load see: the strongest `guarantee` that the database gives them with the
    driver's options (`linearizable`, `session`, `eventual`), and whom they ask, in words."""

    guarantee: Literal["linearizable", "session", "eventual"] = "eventual"
    asked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """All that others know of one database.

    `title` is its name as people write it, `driver` is the load generator's driver, `extra` is the
    extra of brownout that installs its client. `adapter` is a reference to a callable that takes a
    `Cluster` and returns a `brownout.databases.adapter.Adapter`.

    `canary` is the file of the ready client that does a canary's operations, in `infra/clients` or
    by its absolute path; Python starts it.

    `options` is the model of `options.<driver>` of a workload, `most_bytes` the largest record.
    `reading` returns what reads with such options see.
    `check_target` raises `ConfigurationError` for a target that cannot be a node of a cluster.
    `serves_what_it_has` is true if a node answers reads from its own data alone, so that a record
    that is missing may come back with a node that was away.
    `lab_server` finds the server program of its labs.
    `open_request` is what a node answers without a login; empty where there is nothing.
    `census` asks the only node of a `Cluster` which nodes its cluster has, and returns them as a
    `brownout.inventory.importers.Imported`; None where nodes cannot tell.
    `streams` says that its standbys may have no supervisor, so that `streaming` of an inventory
    says what moves the primary. `sentinels` says that sentinels may watch it.
    `grants` are the privileges that its login needs, act by act.
    `variables` explains those variables of experiments that only this database has.
    """

    name: str
    title: str
    driver: str
    adapter: str
    extra: str = ""
    canary: str = ""
    options: type[BaseModel] | None = None
    most_bytes: int | None = None
    reading: Callable[[Mapping[str, Any]], Reading] = lambda _: Reading()
    check_target: Callable[[str, Cluster], None] = lambda _select, _cluster: None
    serves_what_it_has: bool = False
    labs: Mapping[str, LabKind] = field(default_factory=dict)
    lab_server: Look | None = None
    server: Server | None = None
    census: Callable[[Cluster], Any] | None = None
    operators: tuple[Operator, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    streams: bool = False
    sentinels: bool = False
    open_request: bytes = b""

    def referred(self, reference: str) -> Any:
        """Return what `module:name`, or a module, of this database is.

        Raises `ConfigurationError` where a package that it needs is missing.
        """
        module, _, name = reference.partition(":")
        try:
            target = import_module(module)
        except ModuleNotFoundError as error:
            hint = how_to_install(self.extra) if self.extra else ""
            raise ConfigurationError(
                f"database `{self.name}` needs the package `{error.name}`, which is not installed",
                hint,
            ) from error
        return getattr(target, name) if name else target

    def lab(self, engine: object) -> LabKind:
        """Return the kind of lab of this name; `ConfigurationError` for an unknown one."""
        if isinstance(engine, str) and engine in self.labs:
            return self.labs[engine]
        names = ", ".join(sorted(self.labs))
        wanted = f"one of {names}" if names else "no `lab`: it has none"
        raise ConfigurationError(
            f"lab.engine: found {engine!r}, of the database `{self.name}` wanted {wanted}"
        )


def later(reference: str) -> Callable[..., Any]:
    """Return a function that is imported when it is called: `module:name` or `module:NAME.method`.

    Every inventory is read with all databases, so what takes time to import waits for its use.
    """
    return partial(_call, reference)


def _call(reference: str, *arguments: Any) -> Any:
    module, _, name = reference.partition(":")
    return attrgetter(name)(import_module(module))(*arguments)


def if_secure(extra: str = "lab") -> Callable[[Any], Mapping[str, tuple[str, str]]]:
    """Return the `packages` of a lab that makes certificates where its settings say `secure`."""
    return lambda lab: {"a secure lab": ("cryptography", extra)} if lab.secure else {}


def database(name: str) -> Database:
    """Return the database called `name`; `ConfigurationError` with the known ones."""
    loaded: Database = plugins.load(plugins.DATABASES, name, "database")
    return loaded


def databases() -> dict[str, Database]:
    """Return every database that is installed, by name; one that cannot be loaded is left out."""
    every = {}
    for name in plugins.known(plugins.DATABASES):
        try:
            every[name] = database(name)
        except ConfigurationError:
            continue
    return every


def of_driver(driver: str) -> Database | None:
    """Return the database that the load generator's `driver` speaks to; None where unknown."""
    return next((one for one in databases().values() if one.driver == driver), None)


def with_options(cluster: Cluster, stated: Mapping[str, Mapping[str, Any]]) -> Cluster:
    """Return the cluster with the options that a load on it has: a workload's win.

    `stated` are the workload's, by driver, as `{"stone": {"write_to": 1}}`. An adapter
    that guards data has to know what the load's writes wait for.
    """
    own = cluster.connection
    options = {**own.options, **stated.get(database(cluster.database).driver, {})}
    connection = own.model_copy(update={"options": options})
    return cluster.model_copy(update={"connection": connection})
