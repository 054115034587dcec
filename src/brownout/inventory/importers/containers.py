"""Machines of an inventory made of containers, as a Compose file or an engine has them. Pure.

compose, docker ──▶ what is said of each container ──▶ images (which database) ──▶ machines
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from brownout.base.errors import ConfigurationError
from brownout.inventory.importers import images
from brownout.inventory.importers.images import Container, Recognised
from brownout.inventory.importers.machine import Imported, Machine, with_routers

__all__ = ["Contained", "Wanted", "read"]

_T = TypeVar("_T")

#: What a container starts that only waits.
_WAITS = frozenset(("nc", "sleep", "tail", "wait-for-it.sh"))
#: What is started in an image beside the database that it has.
_OTHERS = frozenset(("confd", "envoy", "haproxy", "nginx", "pgbouncer"))
_PORT = re.compile(r"(?:[A-Z]+_)+PORT(?:_NUMBER)?")
#: A second port, at which only members of a cluster are served.
_BUS = 10_000


@dataclass(frozen=True, slots=True)
class Contained:
    """A container: what is `said` of what is in it, and its name on the engine.

    `published` are ports of this machine, by its own: `{6379: "127.0.0.1:7001"}`; `drawn` are
    those that the engine publishes at ports of its choice. `address` is its own in a network, or
    its name there where it is `only_named`. `volumes` are the kinds of what is mounted:
    `{"/data": "volume"}`, with those of the image if it is `every_volume`.
    """

    said: Container
    container: str
    address: str
    only_named: bool = False
    on_host: bool = False
    published: Mapping[int, str] = field(default_factory=dict)
    drawn: tuple[int, ...] = ()
    volumes: Mapping[str, str] = field(default_factory=dict)
    every_volume: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: `source` in words; `services` are names, none means all databases.

    `database` is empty where it is to be found. `engine` has settings of `host` that lead there.
    """

    name: str
    source: str
    services: tuple[str, ...] = ()
    database: str = ""
    engine: Mapping[str, Any] = field(default_factory=dict)


def read(wanted: Wanted, containers: Sequence[Contained]) -> tuple[Imported, str]:
    """Return the machines and the database of the containers that have one.

    Raises `ConfigurationError` with all problems.
    """
    listed = sorted({one.said.name for one in containers})
    problems = [
        f"{wanted.source}: has no service `{name}`; it has {', '.join(listed) or 'none'}"
        for name in wanted.services
        if name not in listed
    ]
    routers, aside, doubts = list[str](), list[str](), list[str]()
    members = list[tuple[Contained, Recognised]]()
    for one in containers:
        if images.leads_to_shards([one.said]):
            routers.append(_router(one))
            continue
        if wanted.services and one.said.name not in wanted.services:
            continue
        try:
            recognised = _recognised(one, wanted)
        except ConfigurationError as error:
            doubts += error.problems
            continue
        if recognised is None:
            continue
        if images.is_aside(recognised):
            aside.append(one.container)
        else:
            members.append((one, recognised))
    kinds = sorted({recognised.database for _, recognised in members})
    if len(kinds) > 1:
        parts = [f"{kind} ({_names(members, kind)})" for kind in kinds]
        problems.append(f"{wanted.source}: has {' and '.join(parts)}; say which by --database")
    if wanted.services:
        problems += doubts
    elif not members:
        problems.append(
            f"{wanted.source}: has no database among {', '.join(listed) or 'no service'}; say "
            "which by --service NAME --database DATABASE"
        )
    if problems or not members:
        raise ConfigurationError(problems)
    notes = [f"Not a node, and left out: {name}." for name in aside]
    if any(
        one.published and _machine(one, of, wanted).address != one.address for one, of in members
    ):
        notes.append(
            "Clients are led to the addresses that nodes announce: see that this machine reaches "
            "them there, too (docs/docker.md)."
        )
    machines = tuple(_machine(one, recognised, wanted) for one, recognised in members)
    imported = Imported(
        wanted.name,
        wanted.source,
        machines,
        _alike([images.shared(recognised) for _, recognised in members]),
        tuple(notes),
        settings=_alike([recognised.image.settings for _, recognised in members]),
    )
    return with_routers(imported, routers), kinds[0]


def _names(members: Sequence[tuple[Contained, Recognised]], kind: str) -> str:
    return ", ".join(one.said.name for one, recognised in members if recognised.database == kind)


def _alike(each: Sequence[Mapping[str, _T]]) -> dict[str, _T]:
    """Return the settings that all have alike."""
    return {
        name: value
        for name, value in each[0].items()
        if all(one.get(name) == value for one in each)
    }


def _recognised(one: Contained, wanted: Wanted) -> Recognised | None:
    """Return what a container has; None where it has none, or only a client of a database."""
    inside = one.said
    servers = images.servers()
    if not any(images.started_with(server, inside) for server in servers.values()):
        words = {word.rpartition("/")[2] for part in inside.words for word in part.split()}
        clients = {name for server in servers.values() for name in server.clients}
        if words & (clients | _WAITS | _OTHERS):
            return None
    named = inside.name if wanted.services else ""
    try:
        recognised = images.recognise(
            wanted.source, [inside], container=named, database=wanted.database if named else ""
        )
    except ConfigurationError:
        if wanted.services:
            raise
        return None
    is_named = any(word in inside.name for word in recognised.image.words) and not inside.image
    if recognised.guessed and not wanted.services and not is_named:
        return None
    return recognised if wanted.database in ("", recognised.database) else None


def _machine(one: Contained, recognised: Recognised, wanted: Wanted) -> Machine:
    inner, notes = _inner(one, recognised)
    server = images.servers()[recognised.database]
    host, port = _reached(one, inner)
    storage = images.storage(recognised)
    directory = storage.pop("server_directory", "")  # a container is one node as a whole
    image = recognised.image
    api_port = 0 if image.settings else server.api_port
    api = one.published.get(api_port, "") if api_port else ""
    return Machine(
        name=one.container,
        address=host,
        database_port=port,
        shard=images.shard(recognised),
        api=api if api != f"{host}:{api_port}" else "",
        host={"kind": "docker", **wanted.engine, "container": one.container, **storage},
        notes=(
            *one.notes,
            *(note for note in recognised.notes if not (image.settings and note == image.note)),
            *notes,
            *_doubts(one, inner, api, api_port),
            *_of_storage(one, storage, directory if image.settings else ""),
        ),
    )


def _router(one: Contained) -> str:
    inner = next(iter(one.said.ports), 0) or next(iter(one.published), 0)
    named = images.option(one.said.words, "--port")
    host, port = _reached(one, int(named) if named.isdigit() else inner)
    return f"{host}:{port}"


def _inner(one: Contained, recognised: Recognised) -> tuple[int, list[str]]:
    """Return the port at which the database listens in its container."""
    words = {word.upper() for word in recognised.image.words}
    inside = one.said
    for name, value in inside.variables.items():
        if _PORT.fullmatch(name) and name.partition("_")[0] in words and value.isdigit():
            return int(value), []
    port = images.port(recognised)
    clients = [each for each in one.published if each - _BUS not in one.published]
    api = images.servers()[recognised.database].api_port
    clients = [each for each in clients if each != api]
    if port not in one.published and len(clients) == 1:
        return clients[0], ["its port is a guess: the only one that is published"]
    return port, []


def _reached(one: Contained, inner: int) -> tuple[str, int]:
    """Return where this machine reaches a port of a container."""
    if one.on_host:
        return "127.0.0.1", inner
    published = one.published.get(inner, "")
    if published:
        host, _, port = published.rpartition(":")
        return host.strip("[]"), int(port)
    return one.address, inner


def _doubts(one: Contained, inner: int, api: str, api_port: int) -> Iterator[str]:
    if one.on_host:
        return
    if inner in one.drawn:
        yield (
            f"its port {inner} is published at one that the engine draws: `brownout inventory "
            "from-docker` asks for it"
        )
    elif inner not in one.published and one.only_named:
        yield (
            f"its port {inner} is not published, and its name is known in its network alone: "
            "publish it, or give the address that this machine reaches it at"
        )
    elif inner in one.published and api_port and not api:
        yield f"its port {api_port} is not published, at which its supervisor is asked"


def _of_storage(one: Contained, storage: Mapping[str, Any], directory: str) -> Iterator[str]:
    """Yield why a wipe would be refused: only a named volume of the engine is emptied.

    `directory` is where a server that says so itself keeps its data.
    """
    if not storage and not directory:
        yield "where it keeps its data is not known: `command`, `config_file`"
    words: Sequence[str] = [*storage.get("command", ())[1:], directory]
    for place in (word for word in words if word.startswith("/")):
        within = [at for at in one.volumes if f"{place}/".startswith(f"{at.rstrip('/')}/")]
        kind = one.volumes[max(within, key=len)] if within else "none"
        if kind != "volume" and (within or one.every_volume):
            what = "on a bind mount" if kind == "bind" else "on no named volume"
            yield f"{place} is {what}: such a node can be broken, but a wipe of it is refused"
