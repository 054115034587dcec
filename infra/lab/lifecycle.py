"""Bringing a lab up and down, and cleaning up after one that died."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from brownout.base import usual
from brownout.base.errors import (
    BrownoutError,
    ClusterError,
    ConfigurationError,
    HostError,
    UndoFailed,
    Unsupported,
)
from brownout.databases.lab import file_systems, network, proxies
from brownout.databases.lab.engine import Progress, engine_of, kind_of
from brownout.databases.lab.settings import ClockLab
from brownout.infra.lab.inspect import Condition, condition, recorded
from brownout.infra.lab.repair import mend
from brownout.inventory import inventory, labs
from brownout.inventory.model import Cluster, LabSpec, Node, ProcessSpec
from brownout.machine import clock, control_groups
from brownout.machine.host import host_for

__all__ = ["down", "ensure", "up"]

#: A port may be taken between our look at it and the member's start.
_ATTEMPTS = 3


def _silent(_: str) -> None:
    """Report nothing."""


def up(
    lab: str | Cluster = usual.CLUSTER,
    members: int | None = None,
    *,
    progress: Progress = _silent,
) -> Cluster:
    """Bring a lab up, or repair the one that is there, and return its cluster, whole.

    `lab` is an inventory's name, path or content with a `lab` in it; `members` overrides its
    number. What an earlier lab of that name left behind is cleaned first. On any error all that
    was made is removed again.
    """
    declared, spec = _declared(lab, members)
    with labs.locked(declared.name, lambda: progress("waiting for another brownout")):
        state = condition(declared.name)
        if state in ("up", "degraded"):
            return _mended(declared.name, members, progress)
        _clean(declared.name, state, progress)
        return _make(declared, spec, progress)


def ensure(lab: str | Cluster, *, progress: Progress = _silent) -> tuple[Cluster, bool]:
    """Return the cluster to use and whether it had to be brought up.

    A lab of which something runs is returned as it is: what is wrong with it is not hidden by
    repairing it here. A cluster that is not a lab is returned unchanged.
    """
    declared = lab if isinstance(lab, Cluster) else inventory.declared(lab)
    if declared.lab is None:
        return declared, False
    with labs.locked(declared.name, lambda: progress("waiting for another brownout")):
        state = condition(declared.name)
        if state in ("up", "degraded"):
            return _recorded(declared.name), False
        _clean(declared.name, state, progress)
        bare, spec = _declared(declared, None)
        return _make(bare, spec, progress), True


def down(lab: str | Cluster = usual.CLUSTER, *, progress: Progress = _silent) -> bool:
    """Take a lab down: no process, file or network is left. Return whether there was one.

    Its processes are known by their start time and by a command line that names the lab's own
    directory; no other process is touched. Raises `UndoFailed` if one does not end.
    """
    name = lab.name if isinstance(lab, Cluster) else _name(lab)
    with labs.locked(name, lambda: progress("waiting for another brownout")):
        directory = labs.directory(name)
        left = [*network.left(directory), *file_systems.left(directory)]
        existed = condition(name) != "down" or bool(left)
        if existed:
            progress(f"taking {name} down")
            _remove(name)
        return existed


def _declared(lab: str | Cluster, members: int | None) -> tuple[Cluster, LabSpec]:
    """Return a lab's declaration, without nodes, and what it is to be made of."""
    cluster = lab if isinstance(lab, Cluster) else inventory.declared(lab)
    if cluster.lab is None:
        raise ConfigurationError(
            f"cluster `{cluster.name}` is not a lab: its inventory has no `lab`",
            f"only a lab, as {usual.CLUSTER}, can be brought up",
        )
    spec = cluster.lab
    if members is not None:
        spec = spec.changed(members=members)
    return cluster.model_copy(update={"nodes": (), "spares": ()}), spec


def _name(lab: str) -> str:
    """Return a lab's name, also when its inventory is gone and only the lab is left."""
    return lab if labs.directory(lab).is_dir() else inventory.declared(lab).name


def _recorded(name: str) -> Cluster:
    cluster = recorded(name)
    if cluster is None:
        raise ClusterError(f"the lab `{name}` has lost its inventory", f"brownout lab down {name}")
    return cluster


def _clean(name: str, state: Condition, progress: Progress) -> None:
    """Remove what an earlier lab left: its maker, its processes or the machine died."""
    if state != "down":
        progress(f"cleaning up an earlier {name} ({state})")
        _remove(name)


def _make(declared: Cluster, spec: LabSpec, progress: Progress) -> Cluster:
    kind_of(declared).fetch(spec, progress)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _make_once(declared, spec, progress)
        except HostError as error:
            if "Address already in use" not in str(error) or attempt == _ATTEMPTS:
                raise
            progress("a port was taken by another process, trying others")
    raise AssertionError("unreachable")  # pragma: no cover  the loop returns or raises


def _make_once(declared: Cluster, spec: LabSpec, progress: Progress) -> Cluster:
    """Lay out, start and form a lab; on any error, Ctrl-C too, leave nothing of it."""
    name, engine = declared.name, engine_of(declared)
    directory = labs.directory(name)
    directory.mkdir(parents=True)
    try:
        labs.write(name, spec.engine, "starting")
        cluster = _grouped(engine.lay_out(declared, spec, directory), directory)
        cluster = _clocked(cluster, spec, directory)
        kind = kind_of(declared)
        labs.write_inventory(cluster, kind.login)
        progress(f"starting {len(cluster.nodes)} members of {name}")
        proxies.start(directory)
        kind.start(directory)
        _start(cluster.nodes)
        engine.form(cluster, spec, progress)
        labs.write(name, spec.engine, "running")
    except BaseException:
        _remove(name)
        raise
    progress(f"{name} is up")
    return cluster


def _grouped(cluster: Cluster, directory: Path) -> Cluster:
    """Give each process of a lab a control group for its memory, where this machine allows it."""
    if control_groups.why_not_here():
        return cluster
    tag = network.tag_of(directory)

    def grouped(node: Node) -> Node:
        if not isinstance(node.host, ProcessSpec):
            return node
        name = f"brownout-{tag}-{node.name}"
        return node.model_copy(
            update={"host": node.host.model_copy(update={"control_group": name})}
        )

    nodes, spares = map(grouped, cluster.nodes), map(grouped, cluster.spares)
    return cluster.model_copy(update={"nodes": tuple(nodes), "spares": tuple(spares)})


def _clocked(cluster: Cluster, spec: LabSpec, directory: Path) -> Cluster:
    """Give each process of a lab a file that sets its clock, if it is to have one of its own."""
    if not (isinstance(spec, ClockLab) and spec.own_clocks):
        return cluster
    if reason := clock.why_not_here():
        raise Unsupported(f"a lab with clocks of its own cannot be made here: {reason}")

    def clocked(node: Node) -> Node:
        if not isinstance(node.host, ProcessSpec):
            return node
        file = directory / node.name / clock.NAME
        file.write_text("+0\n", encoding="ascii")
        return node.model_copy(update={"host": node.host.model_copy(update={"clock_file": file})})

    nodes, spares = map(clocked, cluster.nodes), map(clocked, cluster.spares)
    return cluster.model_copy(update={"nodes": tuple(nodes), "spares": tuple(spares)})


def _start(nodes: tuple[Node, ...]) -> None:
    """Start all processes at once; an error of one is raised after all have been tried."""
    with ThreadPoolExecutor(len(nodes)) as pool:
        started = [pool.submit(host_for(node).start) for node in nodes]
    for future in started:
        future.result()


def _mended(name: str, members: int | None, progress: Progress) -> Cluster:
    """Return the lab that is there, once what an experiment left in it is put back."""
    cluster = _recorded(name)
    a_shard = len(cluster.nodes) // len({node.shard for node in cluster.nodes})  # of each shard
    if members not in (None, a_shard):
        raise ConfigurationError(
            f"the lab `{name}` is up with {a_shard} members, wanted {members}",
            f"brownout lab down {name}",
        )
    proxies.start(labs.directory(name))
    kind_of(cluster).start(labs.directory(name))
    mend(cluster, progress)
    return cluster


def _remove(name: str) -> None:
    """End a lab's processes, each one tried even if another fails, and remove its directory."""
    cluster = recorded(name)
    file_systems.thaw(labs.directory(name))
    if cluster is not None:
        kind_of(cluster).stop(labs.directory(name))
    failures = []
    for node in cluster.every if cluster else ():
        try:
            host = host_for(node)
            host.stop("kill")
            if clock.left_on(node, host):
                clock.undo_on(node, host)  # its switch would outlive the lab
        except BrownoutError as error:
            failures.append(str(error))
    if failures:
        raise UndoFailed(f"the lab `{name}` is not down: {'; '.join(failures)}")
    proxies.stop(labs.directory(name))
    network.remove(labs.directory(name))
    file_systems.remove(labs.directory(name))
    control_groups.remove(f"brownout-{network.tag_of(labs.directory(name))}-")
    labs.forget(name)
