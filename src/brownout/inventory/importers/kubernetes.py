"""What a Kubernetes cluster has of a database: its StatefulSets and pods, asked of the API.

statefulset/db          the StatefulSet itself
aerospikecluster/aero   those that the Aerospike Kubernetes Operator made of this resource
mongodbcommunity/mdb    those that MongoDB's operator made of it
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from brownout.base import problems
from brownout.base.errors import ConfigurationError
from brownout.inventory.importers import pods
from brownout.inventory.importers.machine import Imported
from brownout.inventory.importers.pods import Wanted
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Object, Objects, in_namespace

__all__ = ["found", "wanted"]


@dataclass(frozen=True, slots=True)
class _Resource:
    """A kind that may own StatefulSets; `path` is the API's word for several of it."""

    path: str
    short: tuple[str, ...] = ()


_RESOURCES: Mapping[str, _Resource] = {
    "statefulset": _Resource("statefulsets", ("sts",)),
    "aerospikecluster": _Resource("aerospikeclusters"),
    "mongodbcommunity": _Resource("mongodbcommunity", ("mdbc",)),
}


def found(asked: Wanted, selector: str = "") -> tuple[Imported, str]:
    """Return the machines and the database of what is `asked` for, or of the pods of `selector`.

    Raises `ConfigurationError` with all problems, `HostError` where the API server refuses.
    """
    kind, name = ("", "") if selector else _parsed(asked.what)
    client = connect(asked.access)
    try:
        objects, namespace = Objects(client), asked.access.namespace
        query = {"labelSelector": selector} if selector else {}
        listed = objects.listed(in_namespace(namespace, "pods"), **query)
        sets = objects.listed(in_namespace(namespace, "statefulsets"))
        if selector:
            return pods.read(asked, sets, listed, {})
        path = in_namespace(namespace, _RESOURCES[kind].path, name)
        owner = objects.find(path)
    finally:
        client.close()
    if owner is None:
        raise ConfigurationError(
            f"{asked.what}: there is none in namespace {namespace}",
            "the right `--namespace`, `--context`? (`kubectl get` shows what there is)",
        )
    own = [one for one in sets if owner["metadata"]["uid"] in (_uid(one), *_owners(one))]
    return pods.read(asked, own, listed, _known(kind, owner))


def wanted(what: str, access: Mapping[str, Any], **said: Any) -> Wanted:
    """Return what is wanted of the cluster that `access` leads to; `said` are `Wanted`'s own.

    Raises `ConfigurationError` with every setting of `access` that is wrong.
    """
    try:
        return Wanted(what, Access.model_validate(access), **said)
    except ValidationError as error:
        raise ConfigurationError(problems.from_validation(error, Access)) from error


def _parsed(what: str) -> tuple[str, str]:
    kind, slash, name = what.lower().partition("/")
    for known, resource in _RESOURCES.items():
        if slash and name and kind in (known, f"{known}s", *resource.short):
            return known, name
    raise ConfigurationError(
        f"found `{what}`, wanted KIND/NAME with one of {', '.join(_RESOURCES)}, or --selector"
    )


def _uid(found: Object) -> str:
    return str(found["metadata"]["uid"])


def _owners(found: Object) -> list[str]:
    return [str(one["uid"]) for one in found["metadata"].get("ownerReferences") or []]


def _known(kind: str, owner: Object) -> dict[str, Any]:
    """Return settings of the connection that a custom resource says for all its nodes."""
    if kind == "mongodbcommunity":  # its operator names the replica set after the resource
        return {"replica_set": owner["metadata"]["name"]}
    if kind == "aerospikecluster":
        config: Object = (owner.get("spec") or {}).get("aerospikeConfig") or {}
        names = [str(one["name"]) for one in config.get("namespaces") or [] if "name" in one]
        return {"options": {"namespace": names[0]}} if names else {}
    return {}
