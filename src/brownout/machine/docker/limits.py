"""Limiting what a container gets by its engine, as `docker update` does, and back.

What it had is in the switch that puts it back (`undo`), and in the record of the run.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import HostError
from brownout.inventory.model import Node
from brownout.machine.docker import undo
from brownout.machine.docker.container import Container, checked
from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import DockerSpec
from brownout.machine.host import Proof

__all__ = ["MEANS", "Limit", "Limits", "Wanted", "spec_of"]

MEANS = "docker update"

#: What the engine calls limits, as `{"NanoCpus": 0, "CpuQuota": 0, "CpuPeriod": 0}`.
Limits = Mapping[str, int]
#: Returns what to set, of what a container has, by asking its engine if need be.
Wanted = Callable[[Any, Container, Limits], Limits]


@dataclass(frozen=True, slots=True)
class Limit:
    """One kind of limit: the `keys` of a container's configuration that hold it.

    `mark` is what its switch is called, and `back` returns what sets an earlier limit again.
    """

    mark: str
    keys: tuple[str, ...]
    back: Callable[[Limits], dict[str, int]]

    def of(self, node: Node) -> dict[str, int]:
        """Return the limit that the container of `node` has."""
        spec = spec_of(node)
        with connected(spec) as client:
            return self._read(client, checked(client, node.name, spec.container).id)

    def set(
        self, node: Node, wanted: Wanted, evidence: Mapping[str, Any], undo_after_s: float | None
    ) -> Proof:
        """Limit it; a process of this machine puts it back after `undo_after_s`."""
        spec = spec_of(node)
        limit_s = undo_after_s or spec.undo_after_s
        with connected(spec) as client:
            container = checked(client, node.name, spec.container)
            if not container.running:
                raise HostError(f"node `{node.name}` is not limited: it is not running", "start it")
            earlier = self._read(client, container.id)
            to_set = wanted(client, container, earlier)
            switches = undo.armed(container, self.mark)
            earlier_value = undo.value_of(switches[0]) if switches else self.back(earlier)
            already = bool(switches) and all(earlier[key] == to_set[key] for key in to_set)
            switch = undo.arm(spec, container, limit_s, self.mark, earlier_value)
            sent = time.monotonic()
            undo.update(client, container.id, to_set)
            seen = time.monotonic()
            there = self._read(client, container.id)
            if switch not in [each.pid for each in undo.armed(container, self.mark)]:
                undo.update(client, container.id, earlier_value)  # its switch ran out before
                raise HostError(
                    f"node `{node.name}` had its own limit back before it was seen to be limited",
                    "raise `undo_after_s`",
                )
        if any(there[key] != value for key, value in to_set.items()):
            raise HostError(f"node `{node.name}`: found {there}, wanted {to_set}")
        what = {**evidence, "by": MEANS, "before": earlier}
        what |= {"undo_after_s": limit_s, "undo_pid": switch}
        return Proof(seen, seen - sent, what, already=already)

    def undo_on(self, node: Node, earlier: Any, state: str) -> Proof:
        """Give it the limit of the switch, or else the `earlier` one of the record."""
        spec = spec_of(node)
        with connected(spec) as client:
            container = checked(client, node.name, spec.container)
            switches = undo.armed(container, self.mark)
            record = self.back(earlier) if earlier else None
            wanted = undo.value_of(switches[0]) if switches else record
            there = self._read(client, container.id)
            already = wanted is None or all(there[k] == max(v, 0) for k, v in wanted.items())
            sent = time.monotonic()
            if wanted is not None and not already:
                undo.update(client, container.id, wanted)
            seen = time.monotonic()
            left = self._read(client, container.id)
        undo.cancel(container, self.mark)
        return Proof(seen, seen - sent, {"state": state, "limits": left}, already=already)

    def left_on(self, node: Node) -> dict[str, int] | None:
        """Return the limit that it has, where a switch of ours waits; else None."""
        spec = spec_of(node)
        with connected(spec) as client:
            container = checked(client, node.name, spec.container)
            armed = undo.armed(container, self.mark)
            return self._read(client, container.id) if armed else None

    def _read(self, client: Any, container: str) -> dict[str, int]:
        config = client.inspect_container(container).get("HostConfig") or {}
        return {key: int(config.get(key) or 0) for key in self.keys}


def spec_of(node: Node) -> DockerSpec:
    """Return how the container of `node` is reached."""
    assert isinstance(node.host, DockerSpec)
    return node.host
