"""Machines of an inventory made of pods, as the API has them and what controls them. Pure.

StatefulSet db, or an operator's resource  ──▶ its pods ──▶ container, program, port, directory
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.database import database as database_of
from brownout.inventory.importers import images
from brownout.inventory.importers.images import Container, Recognised
from brownout.inventory.importers.machine import Imported, Machine, with_routers
from brownout.kubernetes.access import Access
from brownout.kubernetes.objects import Object

__all__ = ["Wanted", "read"]

_VARIABLE = re.compile(r"\$\((\w+)\)")
#: In the names of ports at which clients are not served.
_OTHER_PORTS = re.compile(
    r"bus|metrics|peer|probe|intra|jmx|status|gossip|admin|raft|heartbeat|fabric"
)
#: The kinds of volumes that are there without the pod.
_LASTING = ("persistentVolumeClaim", "configMap", "secret", "projected", "hostPath")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: `what` in words, as `statefulset/db`, and what was said besides.

    `container` and `database` are empty where they are to be found, `port` 0 where the container
    says it; `pod_addresses` wants the pods' own addresses and not the names of their service.
    """

    what: str
    access: Access
    name: str
    container: str = ""
    database: str = ""
    port: int = 0
    domain: str = "svc.cluster.local"
    pod_addresses: bool = False


@dataclass(frozen=True, slots=True)
class _Member:
    """A pod with its container of a database."""

    pod: Object
    recognised: Recognised


def read(
    wanted: Wanted,
    owners: Sequence[Object],
    pods: Sequence[Object],
    stated: Mapping[str, Any],
    services: Sequence[Object] = (),
    *,
    mixed: bool = False,
) -> tuple[Imported, str]:
    """Return the machines and the database of all pods that `owners` control.

    `stated` are settings of the connection that a custom resource says, `services` those of the
    namespace. With `mixed`, pods without a database may be among them, and are left out. Raises
    `ConfigurationError` with all problems.
    """
    uids = {str(one["metadata"]["uid"]) for one in owners}
    own = sorted((pod for pod in pods if _of_ours(pod, uids)), key=_order)
    problems = [] if own else [f"{wanted.what}: owns no pods of a StatefulSet or an operator"]
    members, routers, aside = list[_Member](), list[str](), list[str]()
    machines, strangers = list[Machine](), list[str]()
    for pod in [*own, *(pod for pod in pods if mixed and pod not in own)]:
        containers = [_read(pod, one) for one in pod["spec"]["containers"]]
        try:
            if images.leads_to_shards(containers):
                routers.append(_with_port(_address(pod, wanted, services), containers))
                continue
            if pod not in own:
                continue
            recognised = _recognised(pod, containers, wanted)
            if images.is_aside(recognised):
                aside.append(pod["metadata"]["name"])
                continue
            member = _Member(pod, recognised)
            machines.append(_machine(member, wanted, services))
            members.append(member)
        except ConfigurationError as error:
            strangers += error.problems
    if strangers and not (mixed and members):
        problems += strangers
    kinds = sorted({one.recognised.database for one in members})
    if len(kinds) > 1:
        problems.append(
            f"{wanted.what}: its pods are of {' and '.join(kinds)}; say which by --database"
        )
    if problems or not members:
        raise ConfigurationError(problems or [f"{wanted.what}: has no server among its pods"])
    notes = [f"Not a node, and left out: {name}." for name in aside]
    notes += [f"Left out: {problem}" for problem in strangers]
    settings: dict[str, Any] = {**_settings(members), **stated}
    source = f"{wanted.what} of namespace {wanted.access.namespace}"
    imported = Imported(wanted.name, source, tuple(machines), settings, tuple(notes))
    return with_routers(imported, routers), kinds[0]


def _of_ours(pod: Object, uids: set[str]) -> bool:
    owner = _controller(pod)
    return str(owner.get("uid", "")) in uids


def _controller(pod: Object) -> Object:
    owners: Sequence[Object] = pod["metadata"].get("ownerReferences") or []
    return next((one for one in owners if one.get("controller")), {})


def _order(pod: Object) -> tuple[str, int]:
    stem, _, ordinal = str(pod["metadata"]["name"]).rpartition("-")
    return stem, int(ordinal) if ordinal.isdigit() else 0


def _read(pod: Object, container: Object) -> Container:
    """Return what is said of a container; the kubelet puts variables in place of `$(NAME)`."""
    variables = _variables(pod, container)
    words = [*(container.get("command") or []), *(container.get("args") or [])]
    ports: Sequence[Object] = container.get("ports") or []
    serving = [one for one in ports if not _OTHER_PORTS.search(str(one.get("name", "")))]
    return Container(
        name=str(container["name"]),
        image=str(container.get("image", "")),
        words=tuple(_filled(str(word), variables) for word in words),
        variables=variables,
        ports=tuple(int(one["containerPort"]) for one in serving),
        mounts=tuple(str(one["mountPath"]) for one in container.get("volumeMounts") or []),
    )


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
        value = one.get("value") or own.get(str(field)) or ""
        variables[one["name"]] = _filled(str(value), variables)
    return variables


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda it: variables.get(it[1]) or it[0], text)


def _recognised(pod: Object, containers: Sequence[Container], wanted: Wanted) -> Recognised:
    return images.recognise(
        f"pod {pod['metadata']['name']}",
        containers,
        container=wanted.container,
        database=wanted.database,
    )


def _machine(member: _Member, wanted: Wanted, services: Sequence[Object]) -> Machine:
    pod, recognised = member.pod, member.recognised
    meta, container = pod["metadata"], recognised.container
    access = wanted.access.model_dump(mode="json", exclude_defaults=True)
    host: dict[str, Any] = {"kind": "kubernetes", **access, "namespace": wanted.access.namespace}
    host |= {"pod": meta["name"], "container": container.name, "program": recognised.image.process}
    storage = images.storage(recognised) | _claims(pod)
    return Machine(
        name=str(meta["name"]),
        address=_address(pod, wanted, services),
        database_port=wanted.port or images.port(recognised),
        rack=_rack(recognised.database, meta.get("labels") or {}),
        shard=images.shard(recognised),
        host={**host, **storage},
        notes=tuple(_notes(member, wanted, storage)),
    )


def _claims(pod: Object) -> dict[str, list[str]]:
    """Return the claims of a pod that an operator makes itself, which gives data to new ones only.

    Those of a StatefulSet are emptied and kept.
    """
    if _controller(pod).get("kind") in ("StatefulSet", "Node", None):
        return {}
    volumes: Sequence[Object] = pod["spec"].get("volumes") or []
    claims = [one["persistentVolumeClaim"] for one in volumes if "persistentVolumeClaim" in one]
    return {"claims": [str(one["claimName"]) for one in claims]} if claims else {}


def _notes(member: _Member, wanted: Wanted, storage: Mapping[str, Any]) -> Iterator[str]:
    pod, recognised = member.pod, member.recognised
    yield from recognised.notes
    if not storage.keys() - {"claims"}:
        yield "where it keeps its data is not known: `command`, `config_file`"
    file = str(storage.get("config_file", ""))
    volume = _volume_of(pod, recognised.container.name, file)
    if volume and not any(kind in volume for kind in _LASTING):
        yield (
            f"{file} is not on a volume that outlives the pod: such a node can be broken, but a "
            "wipe of it is refused"
        )
    if "persistentVolumeClaim" in volume:
        yield (
            f"{file} is on a volume of data, and a wipe that would empty it as well is refused: "
            "then name the data directory by `command` instead"
        )
    if _controller(pod).get("kind") == "Node":
        yield (
            "its kubelet made it from a file of its machine, so it cannot be stopped, killed or "
            "wiped by the API: give it a `host` by ssh instead (docs/ssh.md)"
        )
    elif not pod["spec"].get("shareProcessNamespace"):
        yield "if its database is PID 1, it cannot be paused; docs/kubernetes.md"
    if wanted.pod_addresses and not pod["spec"].get("hostNetwork"):
        yield (
            "a new pod has another address: for faults that end the pod give it a Service of its "
            "own; docs/kubernetes.md#addresses-of-pods"
        )


def _volume_of(pod: Object, container: str, file: str) -> Object:
    """Return the volume that a file is on; empty if it is in the image or there is no file."""
    one = next(each for each in pod["spec"]["containers"] if each["name"] == container)
    mounts = [
        mount
        for mount in one.get("volumeMounts") or []
        if f"{file}/".startswith(f"{str(mount['mountPath']).rstrip('/')}/")
    ]
    if not mounts or not file:
        return {}
    name = max(mounts, key=lambda mount: len(str(mount["mountPath"])))["name"]
    volumes: Sequence[Object] = pod["spec"].get("volumes") or []
    return next((each for each in volumes if each["name"] == name), {})


def _rack(of: str, labels: Mapping[str, str]) -> str:
    """Return the rack that the operator of this database labelled a pod with."""
    marks = [one.rack_label for one in database_of(of).operators if one.rack_label]
    return next((str(labels[mark]) for mark in marks if mark in labels), "")


def _address(pod: Object, wanted: Wanted, services: Sequence[Object]) -> str:
    """Return where clients reach a pod: by its name, or a service that leads to it alone."""
    spec, meta = pod["spec"], pod["metadata"]
    if wanted.pod_addresses or spec.get("hostNetwork"):
        if address := (pod.get("status") or {}).get("podIP"):
            return str(address)
        raise ConfigurationError(f"pod {meta['name']}: has no address yet")
    if spec.get("subdomain"):
        own = spec.get("hostname", meta["name"])
        return f"{own}.{spec['subdomain']}.{meta['namespace']}.{wanted.domain}"
    for service in services:
        if _leads_to(service, meta):
            return f"{service['metadata']['name']}.{meta['namespace']}.{wanted.domain}"
    raise ConfigurationError(
        f"pod {meta['name']}: is of no headless service and has no Service of its own, so it has "
        "no name; make one (docs/kubernetes.md#addresses-of-pods), or give --pod-addresses"
    )


def _leads_to(service: Object, meta: Object) -> bool:
    """Whether a service selects a pod by a label that holds the pod's own name."""
    selector: Mapping[str, str] = service["spec"].get("selector") or {}
    labels: Mapping[str, str] = meta.get("labels") or {}
    return (
        bool(selector)
        and all(labels.get(key) == value for key, value in selector.items())
        and meta["name"] in selector.values()
    )


def _with_port(address: str, containers: Sequence[Container]) -> str:
    ports = [port for one in containers for port in one.ports]
    return f"{address}:{ports[0]}" if ports else address


def _settings(members: Sequence[_Member]) -> dict[str, Any]:
    return next(iter(images.shared(one.recognised) for one in members), {})
