"""Machines of an inventory made of pods, as the API has them and their StatefulSets. Pure.

StatefulSet db  ──▶ its pods, by their controller ──▶ container, program, port, directory
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.database import Server, database, databases
from brownout.inventory.importers.machine import Imported, Machine
from brownout.kubernetes.access import Access
from brownout.kubernetes.objects import Object

__all__ = ["Wanted", "read"]

_VARIABLE = re.compile(r"\$\((\w+)\)")


def _servers() -> dict[str, Server]:
    """Return how a container of each database is known, and what it has by itself."""
    return {name: one.server for name, one in databases().items() if one.server is not None}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: `what` in words, as `statefulset/db`, and what was said besides.

    `container` is empty where it is to be found, `port` 0 where the container says it;
    `pod_addresses` wants the pods' own addresses and not the names of their service.
    """

    what: str
    access: Access
    name: str
    container: str = ""
    port: int = 0
    domain: str = "svc.cluster.local"
    pod_addresses: bool = False


def read(
    wanted: Wanted, sets: Sequence[Object], pods: Sequence[Object], stated: Mapping[str, Any]
) -> tuple[Imported, str]:
    """Return the machines and the database of all pods that `sets` control.

    `stated` are settings of the connection that a custom resource says. Raises
    `ConfigurationError` with all problems.
    """
    names = {str(one["metadata"]["uid"]): str(one["metadata"]["name"]) for one in sets}
    own = sorted((pod for pod in pods if _controller(pod) in names), key=_order)
    problems = [f"{wanted.what}: owns no pods of a StatefulSet"] if not own else []
    machines, of_databases = [], set()
    for pod in own:
        try:
            of, container = _container(pod, wanted)
            machines.append(_machine(pod, of, container, wanted))
            of_databases.add(of)
        except ConfigurationError as error:
            problems += error.problems
    if len(of_databases) > 1:
        problems.append(f"{wanted.what}: its pods are of {' and '.join(sorted(of_databases))}")
    if problems:
        raise ConfigurationError(problems)
    options = {**_options(own[0], wanted), **stated}
    source = f"{wanted.what} of namespace {wanted.access.namespace}"
    return Imported(wanted.name, source, tuple(machines), options), of_databases.pop()


def _controller(pod: Object) -> str:
    owners: Sequence[Object] = pod["metadata"].get("ownerReferences") or []
    return next((str(one["uid"]) for one in owners if one.get("controller")), "")


def _order(pod: Object) -> tuple[str, int]:
    stem, _, ordinal = str(pod["metadata"]["name"]).rpartition("-")
    return stem, int(ordinal) if ordinal.isdigit() else 0


def _container(pod: Object, wanted: Wanted) -> tuple[str, Object]:
    """Return the database and the container that it is in, which must be told without doubt."""
    containers: Sequence[Object] = pod["spec"]["containers"]
    where, listed = f"pod {pod['metadata']['name']}", ", ".join(c["name"] for c in containers)
    named = [one for one in containers if wanted.container in ("", one["name"])]
    if not named:
        raise ConfigurationError(f"{where}: has no container `{wanted.container}`, but {listed}")
    kinds = _servers()
    matches = [(kind, one) for one in named for kind in kinds if _is(kinds[kind], one)]
    if len(matches) != 1:
        raise ConfigurationError(
            f"{where}: found {len(matches)} containers of a database among {listed}, wanted one; "
            "say which by --container"
        )
    return matches[0]


def _is(server: Server, container: Object) -> bool:
    """Whether a container runs the database: by its command, its image or its own name."""
    words = _words(container)
    program = words[0].rpartition("/")[2] if words else ""
    if program in {each.program for each in _servers().values()}:
        return program == server.program
    image = str(container.get("image", "")).rpartition("/")[2].partition("@")[0].partition(":")[0]
    return container["name"] == server.program or any(
        image == word or image.startswith(f"{word}-") for word in (*server.images, server.program)
    )


def _machine(pod: Object, of: str, container: Object, wanted: Wanted) -> Machine:
    meta, server = pod["metadata"], _servers()[of]
    access = wanted.access.model_dump(mode="json", exclude_defaults=True)
    host: dict[str, Any] = {"kind": "kubernetes", **access, "namespace": wanted.access.namespace}
    process = server.process or server.program
    host |= {"pod": meta["name"], "container": container["name"], "program": process}
    storage = _storage(server, _words(container, _variables(pod, container)))
    notes = [] if storage else ["where it keeps its data is not known: `command`, `config_file`"]
    if not pod["spec"].get("shareProcessNamespace"):
        notes.append("if its database is PID 1, it cannot be paused; docs/kubernetes.md")
    return Machine(
        name=str(meta["name"]),
        address=_address(pod, wanted),
        database_port=wanted.port or _port(container, server),
        rack=_rack(of, meta.get("labels") or {}),
        host={**host, **storage},
        notes=tuple(notes),
    )


def _rack(of: str, labels: Mapping[str, str]) -> str:
    """Return the rack that the operator of this database labelled a pod with."""
    marks = [one.rack_label for one in database(of).operators if one.rack_label]
    return next((str(labels[mark]) for mark in marks if mark in labels), "")


def _address(pod: Object, wanted: Wanted) -> str:
    spec, meta = pod["spec"], pod["metadata"]
    if wanted.pod_addresses:
        if address := (pod.get("status") or {}).get("podIP"):
            return str(address)
        raise ConfigurationError(f"pod {meta['name']}: has no address yet")
    if not spec.get("subdomain"):
        raise ConfigurationError(
            f"pod {meta['name']}: is of no headless service, so it has no name; "
            "give --pod-addresses"
        )
    own = spec.get("hostname", meta["name"])
    return f"{own}.{spec['subdomain']}.{meta['namespace']}.{wanted.domain}"


def _port(container: Object, server: Server) -> int:
    """Return where it listens: by its command, its only port, or as ever."""
    port = _option(_words(container), "--port")
    ports = [int(one["containerPort"]) for one in container.get("ports") or []]
    if port.isdigit():
        return int(port)
    return ports[0] if len(ports) == 1 else server.port


def _storage(server: Server, words: Sequence[str]) -> dict[str, Any]:
    """Return the settings that name the data directory, as far as the container's command tells."""
    kept = [
        word
        for name in server.own_options
        if (value := _option(words, name))
        for word in (name, value)
    ]
    named = (_option(words, name) for name in ("--config", "-f", "--config-file"))
    first = next((word for word in words[1:2] if word.startswith("/")), "")  # or its first argument
    file = next(filter(None, named), first) or ("" if kept else server.contained)
    command = {"command": [server.program, *kept]} if kept else {}
    return {**command, **({"config_file": file} if file else {})}


def _options(pod: Object, wanted: Wanted) -> dict[str, Any]:
    """Return what the command of a member says of its cluster."""
    of, container = _container(pod, wanted)
    words = _words(container)
    shared = {to: _option(words, name) for name, to in _servers()[of].shared_options.items()}
    return {to: value.partition("/")[0] for to, value in shared.items() if value}


def _words(container: Object, variables: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return the container's command; the kubelet puts `variables` in place of `$(NAME)`."""
    words = [*map(str, container.get("command") or []), *map(str, container.get("args") or [])]
    return [_VARIABLE.sub(lambda it: variables.get(it[1], it[0]), word) for word in words]


def _variables(pod: Object, container: Object) -> dict[str, str]:
    """Return the container's environment, as far as the pod itself says what is in it."""
    meta = pod["metadata"]
    own = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "status.podIP": (pod.get("status") or {}).get("podIP"),
    }
    variables: dict[str, str] = {}
    for one in container.get("env") or []:
        field = ((one.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        if value := one.get("value") or own.get(str(field)):
            variables[one["name"]] = _VARIABLE.sub(
                lambda it: variables.get(it[1], it[0]), str(value)
            )
    return variables


def _option(words: Sequence[str], name: str) -> str:
    for index, word in enumerate(words):
        if word == name:
            return next(iter(words[index + 1 :]), "")
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""
