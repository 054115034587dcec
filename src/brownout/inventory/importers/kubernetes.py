"""What a Kubernetes cluster has of a database: its pods and what controls them, asked of the API.

statefulset/db       the StatefulSet itself
stonecluster/rock    those that a database's operator made of this resource
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from brownout.base import problems
from brownout.base.errors import ConfigurationError
from brownout.inventory.database import Operator
from brownout.inventory.importers import pods
from brownout.inventory.importers.machine import Imported
from brownout.inventory.importers.owners import SETS, kinds, owners
from brownout.inventory.importers.pods import Wanted
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Object, Objects, in_namespace

__all__ = ["machines_of", "wanted"]


def machines_of(asked: Wanted, selector: str = "") -> tuple[Imported, str]:
    """Return the machines and the database of what is `asked` for, or of the pods of `selector`.

    Raises `ConfigurationError` with all problems, `HostError` where the API server refuses.
    """
    kind, name = (SETS, "") if selector else _parsed(asked.what)
    client = connect(asked.access)
    try:
        objects, namespace = Objects(client), asked.access.namespace
        query = {"labelSelector": selector} if selector else {}
        listed = objects.listed(in_namespace(namespace, "pods"), **query)
        sets = objects.listed(in_namespace(namespace, "statefulsets"))
        services = objects.listed(in_namespace(namespace, "services"))
        if selector:
            owners = [*sets, *_of_operators(listed)]
            return pods.read(asked, owners, listed, {}, services, mixed=True)
        owner = objects.find(in_namespace(namespace, kind.path, name, group=kind.group))
    finally:
        client.close()
    if owner is None:
        raise ConfigurationError(
            f"{asked.what}: there is none in namespace {namespace}",
            "the right `--namespace`, `--context`? (`kubectl get` shows what there is)",
        )
    own = [one for one in sets if _uid(owner) in (_uid(one), *_owners(one))]
    uids = {_uid(one) for one in (owner, *own)}
    theirs = [pod for pod in listed if uids & {*_owners(pod)}]
    if not theirs and kind.label:
        labelled = [pod for pod in listed if (pod["metadata"].get("labels") or {}).get(kind.label)]
        theirs = [pod for pod in labelled if pod["metadata"]["labels"][kind.label] == name]
        own = sets
    settings, mixed = kind.connection(owner), kind is not SETS
    return pods.read(asked, [owner, *own], theirs, settings, services, mixed=mixed)


def wanted(what: str, access: Mapping[str, Any], **options: Any) -> Wanted:
    """Return what is wanted of the cluster that `access` leads to; `options` are `Wanted`'s own.

    Raises `ConfigurationError` with every setting of `access` that is wrong.
    """
    try:
        return Wanted(what, Access.model_validate(access), **options)
    except ValidationError as error:
        raise ConfigurationError(problems.from_validation(error, Access)) from error


def _parsed(what: str) -> tuple[Operator, str]:
    kind, slash, name = what.lower().partition("/")
    for owner in owners():
        if slash and name and kind in (owner.kind, f"{owner.kind}s", *owner.short):
            return owner, name
    raise ConfigurationError(
        f"found `{what}`, wanted KIND/NAME with one of {', '.join(kinds())}, or --selector"
    )


def _of_operators(listed: Sequence[Object]) -> list[Object]:
    """Return what controls pods without a StatefulSet: an operator's resource, or a kubelet."""
    kinds = {one.owns_pods for one in owners() if one.owns_pods} | {"Node"}
    references = [one for pod in listed for one in pod["metadata"].get("ownerReferences") or []]
    return [{"metadata": one} for one in references if one["kind"] in kinds]


def _uid(thing: Object) -> str:
    return str(thing["metadata"]["uid"])


def _owners(thing: Object) -> list[str]:
    return [str(one["uid"]) for one in thing["metadata"].get("ownerReferences") or []]
