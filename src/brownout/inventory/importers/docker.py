"""Running containers, as the Docker Engine API describes them (`GET /containers/ID/json`). Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brownout.inventory.importers.containers import Contained
from brownout.inventory.importers.images import Container

__all__ = ["PROJECT", "contained"]

Document = Mapping[str, Any]

#: The labels that Compose gives its containers.
PROJECT, _SERVICE = "com.docker.compose.project", "com.docker.compose.service"
#: Of a port that is published at every address of the engine's machine.
_ANY = ("", "0.0.0.0", "::")
_KINDS = {"volume": "volume", "bind": "bind"}


def contained(documents: Sequence[Document], host: str = "127.0.0.1") -> list[Contained]:
    """Return what is said of containers; `host` is the engine's machine as it is reached."""
    ordered = sorted(documents, key=lambda one: _order(str(one.get("Name", ""))))
    return [_contained(one, host) for one in ordered]


def _order(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def _contained(document: Document, host: str) -> Contained:
    config, settings = _part(document, "Config"), _part(document, "NetworkSettings")
    of_host, name = _part(document, "HostConfig"), str(document.get("Name", "")).lstrip("/")
    networks = _part(settings, "Networks")
    ports = {
        int(port.partition("/")[0]): bindings
        for port, bindings in _part(settings, "Ports").items()
        if port.endswith("/tcp")
    }
    addresses = [str(one.get("IPAddress") or "") for one in networks.values() if one]
    address = next(filter(None, addresses), "")
    mounts = [one for one in document.get("Mounts") or () if one.get("Destination")]
    labels = _part(config, "Labels")
    return Contained(
        Container(
            name=str(labels.get(_SERVICE) or name),
            image=str(config.get("Image", "")),
            words=tuple(map(str, (document.get("Path", ""), *(document.get("Args") or ())))),
            variables=dict(_pairs(config.get("Env") or ())),
            ports=tuple(ports),
            mounts=tuple(str(one["Destination"]) for one in mounts),
        ),
        container=name,
        address=address or name,
        only_named=not address,
        on_host=of_host.get("NetworkMode") == "host",
        published={
            port: f"{_host(binding, host)}:{binding['HostPort']}"
            for port, bindings in ports.items()
            for binding in (bindings or ())[:1]
            if binding.get("HostPort")
        },
        volumes={str(one["Destination"]): _KINDS.get(one.get("Type"), "other") for one in mounts},
        every_volume=True,
        notes=tuple(_notes(document, of_host, labels)),
    )


def _part(document: Document, name: str) -> Document:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, value = line.partition("=")
        yield name, value


def _host(binding: Document, host: str) -> str:
    own = str(binding.get("HostIp", ""))
    return host if own in _ANY else own


def _notes(document: Document, of_host: Document, labels: Document) -> Iterator[str]:
    state = _part(document, "State")
    if state.get("Paused"):
        yield "it was paused"
    if of_host.get("AutoRemove"):
        yield "it is removed as it ends (--rm), so it can neither be stopped nor started again"
    if any(str(label).startswith("com.docker.swarm.") for label in labels):
        yield "it is a task of a swarm, which replaces it as it ends"
