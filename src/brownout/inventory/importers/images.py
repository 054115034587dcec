"""Which database a container runs, and what its image has in it. Pure.

What is said of a container in a pod's specification or in a Compose file is weighed: its command
counts most, then its image's name, then its own name, its variables and its ports. Side containers
(exporters, agents, proxies) are told by their names. Where that leaves a doubt, the error says what
was seen and which option decides.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.database import Image, Server, databases

__all__ = ["Container", "Recognised", "is_aside", "leads_to_shards", "named_after", "option"]
__all__ += ["port", "recognise", "servers", "shard", "shared", "started_with", "storage"]

#: Parts of the names of images and containers that stand beside a database.
_BESIDE = frozenset(
    (
        *("adapter", "admin", "agent", "backup", "bouncer", "browser", "builder", "cert", "certs"),
        *("cleanup", "cli", "client", "collector", "commander", "compass", "config"),
        *("configurator", "controller", "copy", "dashboard", "discovery", "express"),
        *("exporter", "fluent", "fluentbit", "hook", "hooks", "init", "insight", "keeper"),
        *("logger", "logrotate", "logs", "metrics", "migrate", "migration", "monitor"),
        *("monitoring", "operator", "pmm", "pooler", "probe", "proxy", "readiness"),
        *("readinessprobe", "reloader", "repair", "replication", "restic", "restore"),
        *("router", "shell", "sidecar", "sync", "telegraf", "tester", "tool", "tools", "ui"),
        *("upgrade", "vector", "wait", "web", "webui", "util", "utils", "utilities", "coordinator"),
        *("consumer", "detector", "gateway", "job", "listener", "producer", "publisher", "queue"),
        *("scheduler", "subscriber", "watcher", "worker"),
    )
)
#: What starts something else: its options and the assignments before a program are skipped, too.
_LAUNCHERS = frozenset(
    (
        *("bash", "catatonit", "chpst", "chroot", "chrt", "dash", "docker-entrypoint.sh"),
        *("dumb-init", "entrypoint.sh", "env", "exec", "gosu", "ionice", "init", "nice", "nohup"),
        *("numactl", "runuser", "setpriv", "setsid", "sh", "su", "su-exec", "sudo", "taskset"),
        *("then", "tini", "tini-static"),
    )
)
_SHELLS = frozenset(("sh", "bash", "dash", "ash"))
#: These are given a user or a directory before the program.
_WITH_ONE = frozenset(("gosu", "su-exec", "chroot"))
_WITH_USER = frozenset(("-u", "--reuid", "--user"))
_ASSIGNED = re.compile(r"\w+=.*", re.DOTALL)
_PART = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"\d+$")


@dataclass(frozen=True, slots=True)
class Container:
    """What is said of one container: `words` are its command with its arguments.

    `variables` are those of its environment, with empty values where they are not known.
    """

    name: str
    image: str = ""
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    mounts: tuple[str, ...] = ()

    def seen(self) -> str:
        """Return what was seen of it, in words for an error: no value of a variable."""
        command = f", command {self.words[0]}" if self.words else ""
        ports = f", ports {', '.join(map(str, self.ports))}" if self.ports else ""
        return f"`{self.name}` (image {self.image or 'unknown'}{command}{ports})"


@dataclass(frozen=True, slots=True)
class Recognised:
    """A container of `database`; `image` is what is in it. `notes` say what was guessed.

    It is `guessed` where neither its command nor its image says so.
    """

    database: str
    container: Container
    image: Image
    notes: tuple[str, ...] = ()
    guessed: bool = False


def servers() -> dict[str, Server]:
    """Return how each database that may be a node is known, and what it has by itself."""
    return {name: one.server for name, one in databases().items() if one.server is not None}


def recognise(
    where: str, containers: Sequence[Container], *, container: str = "", database: str = ""
) -> Recognised:
    """Return the container of a database among those `where` has.

    `container` and `database` are the user's; both together decide whatever was seen. Raises
    `ConfigurationError` with what was seen and the option that decides.
    """
    named = [one for one in containers if container in ("", one.name)]
    if not named:
        listed = ", ".join(one.name for one in containers)
        raise ConfigurationError(f"{where}: has no container `{container}`, but {listed}")
    kinds = {name: kind for name, kind in servers().items() if database in ("", name)}
    ranked = [
        (evidence, name, one)
        for one in named
        if container or not _is_beside(one)
        for name, kind in kinds.items()
        if any(evidence := _evidence(kind, one, named=bool(container)))
    ]
    best = max((evidence for evidence, _, _ in ranked), default=_NOTHING)
    matches = [(name, one) for evidence, name, one in ranked if evidence == best]
    if database and container:
        return _of(database, named[0], best)
    if database and not matches and len(left := [c for c in named if not _is_beside(c)]) == 1:
        return _of(database, left[0], best)
    if len(matches) == 1 and (_is_enough(best) or database):
        return _of(*matches[0], best)
    raise ConfigurationError(_doubt(where, named, matches, container))


#: Evidence: by command, by the image's own name, by what is before it, by name and variables, port.
_Evidence = tuple[int, int, int, int, int]
_NOTHING: _Evidence = (0, 0, 0, 0, 0)


def _is_enough(evidence: _Evidence) -> bool:
    """Whether it tells a database: a client of one has variables of its name as well."""
    command, image, folder, names, port = evidence
    return bool(command or image or folder) or names + port > 1


def _doubt(
    where: str, named: Sequence[Container], matches: Sequence[tuple[str, Container]], container: str
) -> str:
    listed = ", ".join(one.seen() for one in named)
    count = f"found {len(matches)} containers of a database among {listed}"
    if len(matches) == 1:
        (guess, one) = matches[0]
        return (
            f"{where}: {one.seen()} may be of {guess}, by its name, its variables or its port "
            f"alone; if it is, say --container {one.name} --database {guess}"
        )
    if len({one.name for _, one in matches}) == 1:
        kinds = " or ".join(sorted({name for name, _ in matches}))
        return f"{where}: {matches[0][1].seen()} may be of {kinds}; say which by --database"
    if container:
        return (
            f"{where}: which database {named[0].seen()} has is not to be seen; say it by --database"
        )
    if matches:
        which = ", ".join(f"{one.name} ({name})" for name, one in matches)
        return f"{where}: {count}, wanted one: {which}; say which by --container"
    return (
        f"{where}: {count}, wanted one; say which by --container NAME, and what it has by "
        "--database"
    )


def _of(database: str, container: Container, evidence: _Evidence) -> Recognised:
    """Return the container with the family of its image; a guess has a note."""
    server = servers()[database]
    fitting = [one for one in server.images if _fits(one, container)]
    image = next(iter(fitting), None) or server.images[-1]
    notes = [image.note] if image.note and fitting else []
    if evidence[:3] == (0, 0, 0):
        evidence_words = (
            "its name, variables or ports" if any(evidence) else "--container and --database"
        )
        notes.append(
            f"{container.seen()} is taken for {database} by {evidence_words}; `program` is "
            f"{image.process} as in most images of it: see whether its process is called so"
        )
    elif not fitting:
        notes.append(
            f"what the image {container.image} has is not known: `program` and where it keeps its "
            "data are as in most images"
        )
    return Recognised(database, container, image, tuple(notes), evidence[:3] == (0, 0, 0))


def _evidence(server: Server, one: Container, *, named: bool) -> _Evidence:
    """Return how much speaks for `server`, the strongest first."""
    words = _words(server)
    *before, own = _folders(one.image)
    variables = any(
        any(name.lower().startswith(f"{word}_") for word in words) for name in one.variables
    )
    beside = bool(_parts(own) & _BESIDE) and not named
    return (
        int(bool(started_with(server, one))),
        int(not beside and _match(words, own)),
        int(not beside and any(_match(words, each) for each in before)),
        int(_match(words, one.name)) + int(variables),
        int(server.port in one.ports),
    )


def named_after(name: str) -> str:
    """Return the database whose servers a name says, as `stone` of `stone_nodes`; else ""."""
    others = {
        word
        for server in servers().values()
        for word in (*server.beside_words, *server.router_words, *server.aside_words)
    }
    kinds = [kind for kind, one in servers().items() if _match({kind} | _words(one), name)]
    return kinds[0] if len(kinds) == 1 and not _match(_BESIDE | others, name) else ""


def _words(server: Server) -> set[str]:
    return {word for image in server.images for word in image.words}


def _is_beside(one: Container) -> bool:
    """Whether its name, or its image's, is that of a side container, and no command says more."""
    *_, own = _folders(one.image)
    names = _parts(one.name) | _parts(own)
    theirs = {word for kind in servers().values() for word in kind.beside_words}
    if any(started_with(kind, one) for kind in servers().values()):
        return bool(names & theirs) or any(word.lstrip("-") in theirs for word in one.words)
    return bool(names & (_BESIDE | theirs)) or any(_basename(w) in theirs for w in one.words)


def _fits(image: Image, one: Container) -> bool:
    """Whether a container is of this family."""
    if not any(_match(image.words, each) for each in (*_folders(one.image), one.name)):
        names = {name.lower() for name in one.variables}
        started = {_basename(word) for command in _commands(one.words) for word in command[:1]}
        if image.process not in started and not any(
            name.startswith(f"{word}_") for word in image.words for name in names
        ):
            return False
    everywhere = " ".join((one.image, *one.words, *one.mounts, *one.variables)).lower()
    return not image.marks or any(mark in everywhere for mark in image.marks)


def _folders(image: str) -> list[str]:
    """Return the parts of an image's address after its registry: without tag and digest."""
    path = image.lower().partition("@")[0]
    first, *rest = path.split("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        first, *rest = rest
    *before, own = (first, *rest)
    return [*before, own.partition(":")[0]]


def _parts(name: str) -> set[str]:
    """Return the words of a name: `acme-stone70` has `acme`, `stone70` and `stone`."""
    parts = [one for one in _PART.split(name.lower()) if one]
    return {*parts, *(_NUMBER.sub("", one) for one in parts)}


def _match(words: Iterable[str], name: str) -> bool:
    return bool(_parts(name) & set(words))


def started_with(server: Server, one: Container) -> list[str]:
    """Return the program of `server` that a container's command starts, with its arguments."""
    programs = {server.program, *server.programs}
    for command in _commands(one.words):
        if _basename(command[0]) in programs:
            return command
    return []


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield what a command starts, without what only starts it; a shell's script line by line."""
    left = list(words)
    while left:
        head = _basename(left[0])
        if head in _SHELLS and (script := _script(left[1:])) is not None:
            for line in re.split(r"[;\n]|&&|\|\|?", script.replace("\\\n", " ")):
                try:
                    inner = shlex.split(line, comments=True)
                except ValueError:
                    inner = line.split()
                yield from _commands(inner)
            return
        if head in _WITH_ONE or left[0] in _WITH_USER:
            left = left[2:]
        elif (
            head in _LAUNCHERS
            or head.endswith(".sh")
            or left[0].startswith("-")
            or _ASSIGNED.fullmatch(left[0])
        ):
            left = left[1:]
        else:
            yield left
            return


def _script(words: Sequence[str]) -> str | None:
    """Return the text that a shell is given by `-c`, also as `-ec`."""
    for at, word in enumerate(words):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return next(iter(words[at + 1 :]), "")
        if not word.startswith("-"):
            return None
    return None


def _basename(word: str) -> str:
    return word.rpartition("/")[2]


def storage(recognised: Recognised) -> dict[str, Any]:
    """Return the settings of a node that say where it keeps its data, as far as they are known.

    What the command says comes first, then the variables, then what images of the family have.
    """
    one, image = recognised.container, recognised.image
    server = servers()[recognised.database]
    started = started_with(server, one)
    words = started or [server.program, *one.words]
    options = {name: value for name in server.own_options if (value := option(words, name))}
    directory = ""
    for variable, target in image.variables.items():
        name, slash, rest = target.partition("/")
        value = one.variables.get(variable, "")
        if not value or "$" in value:
            continue
        if name == "server_directory":
            directory = directory or value + slash + rest
        else:
            options.setdefault(name, value + slash + rest)
    named = (option(words, name) for name in ("--config", "-f", "--config-file"))
    first = next((word for word in started[1:2] if word.startswith("/")), "")  # its first argument
    file = next(filter(None, named), first)
    if not file:
        for name, value in image.options.items():
            options.setdefault(name, value)
        file = "" if options else image.config_file
    kept = [word for pair in options.items() for word in pair]
    directory = directory or image.server_directory
    return {
        **({"server_directory": directory} if directory else {}),
        **({"command": [server.program, *kept]} if kept else {}),
        **({"config_file": file} if file else {}),
    }


def option(words: Sequence[str], name: str) -> str:
    """Return the value of an option in a command, as `--dbpath X` or `--dbpath=X`; else ""."""
    for index, word in enumerate(words):
        if word == name:
            return next(iter(words[index + 1 :]), "")
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _marks(container: Container) -> set[str]:
    """Return the words of a container that say what part its server has in a cluster."""
    values = (value for value in container.variables.values() if value.isalpha())
    words = (word.rpartition("/")[2].lstrip("-") for word in container.words)
    return {*values, *words}


def leads_to_shards(containers: Sequence[Container]) -> bool:
    """Whether it is a router to shards, and has no server of its own."""
    every = {
        word
        for server in servers().values()
        for word in server.router_words
        if word in server.beside_words
    }
    return any(every & {one.name, *_marks(one)} for one in containers)


def is_aside(recognised: Recognised) -> bool:
    """Whether it is a server that is not a node, as one of configuration."""
    server = servers()[recognised.database]
    return bool(_marks(recognised.container) & set(server.aside_marks))


def shard(recognised: Recognised) -> str:
    """Return the name of the shard that a server belongs to; empty where it is of none."""
    server = servers()[recognised.database]
    if not _marks(recognised.container) & set(server.shard_words):
        return ""
    return next(iter(shared(recognised).values()), "")


def shared(recognised: Recognised) -> dict[str, str]:
    """Return what a member's command or variables say of its cluster: `{"replica_set": "rs0"}`."""
    server, container = servers()[recognised.database], recognised.container
    words = started_with(server, container) or container.words
    settings = {to: option(words, name) for name, to in server.shared_options.items()}
    for to, names in server.named_by.items():
        values = (value for name, value in container.variables.items() if name.lower() in names)
        settings[to] = settings.get(to) or next(filter(None, values), "")
    return {to: value.partition("/")[0] for to, value in settings.items() if value}


def port(recognised: Recognised) -> int:
    """Return where it listens: by its command, its port for clients, or as ever."""
    container, server = recognised.container, servers()[recognised.database]
    named = option(started_with(server, container) or container.words, "--port")
    if named.isdigit():
        return int(named)
    if server.port in container.ports or not container.ports:
        return server.port
    return container.ports[0] if len(container.ports) == 1 else server.port
