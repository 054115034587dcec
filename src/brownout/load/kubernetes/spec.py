"""Where a cluster's load comes from, if it is pods of a Kubernetes cluster, in its inventory:

load:
  where: kubernetes
  hosts: 3
  namespace: load
  image: registry.example.com/brownout:0.1.0
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from brownout.base.settings import Settings
from brownout.kubernetes.access import Access
from brownout.load.place import Place
from brownout.load.where import LoadFrom
from brownout.run.parts.paths import part_directories

__all__ = ["KubernetesLoad", "Toleration"]

_Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$")]
_LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$")]
_Labels = dict[Annotated[str, Field(min_length=1, max_length=316)], _LabelValue]


class Toleration(Settings):
    """A taint of nodes that the pods bear, in Kubernetes's own words."""

    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class KubernetesLoad(LoadFrom, Access):
    """Generators in the pods of one Job; the cluster's addresses must lead from there."""

    where: Literal["kubernetes"]
    hosts: Annotated[int, Field(ge=1, le=200, description="so many generators, each a pod")] = 1
    image: Annotated[str, Field(min_length=1, description="that has the generator's binary")]
    program: Annotated[
        str, Field(min_length=1, description="the generator's binary in the image")
    ] = "brownout-loadgen"
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    pull_secrets: Annotated[
        tuple[str, ...], Field(description="names of Secrets that the image is pulled with")
    ] = ()
    service_account: Annotated[
        str, Field(min_length=1, description="of the pods; it needs no rights and no token")
    ] = "default"
    user: Annotated[
        int | None,
        Field(ge=1, description="its number, where the image names none or gives it as a word"),
    ] = None
    cpu: Annotated[_Quantity, Field(description="that each pod requests")] = "1"
    memory: Annotated[_Quantity, Field(description="that each pod requests, and its limit")] = (
        "512Mi"
    )
    disk: Annotated[_Quantity, Field(description="for a run's files in a pod, at most")] = "2Gi"
    spread: Annotated[
        Literal["required", "preferred"],
        Field(description="whether each generator must have a machine of its own"),
    ] = "required"
    apart_from: Annotated[
        _Labels,
        Field(
            default_factory=dict,
            description="labels of pods, as the database's, to share no machine with",
        ),
    ]
    node_selector: Annotated[
        _Labels, Field(default_factory=dict, description="labels of the machines to use")
    ]
    tolerations: tuple[Toleration, ...] = ()
    start_timeout_s: Annotated[
        float, Field(gt=0, le=3600, description="until every pod has to run")
    ] = 300.0
    hold_s: Annotated[
        int, Field(ge=0, le=86_400, description="files wait so long to be fetched, at most")
    ] = 900
    at_most_s: Annotated[
        int, Field(ge=60, le=2_592_000, description="then Kubernetes ends the pods, come what may")
    ] = 86_400

    @property
    def generators(self) -> int:
        """One in each pod."""
        return self.hosts

    def places(self, directory: Path) -> list[Place]:
        """Return each pod; the Job is made when the first of them is needed."""
        from brownout.load.kubernetes.place import places_for

        return places_for(self, directory, part_directories(directory, self.hosts))

    def collect_left(self, directory: Path) -> bool:
        """Collect what a run that died left in its pods."""
        from brownout.load.kubernetes.recovery import recover

        return recover(self, directory)
