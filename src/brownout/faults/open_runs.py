"""Which run has a cluster in its hands: one at a time, and known after a crash.

A claim is a small file outside the run directory, written before anything is touched and removed
when the run has ended and put everything back. It names the run, so that `brownout heal` finds
what a run that died had broken. It also names the nodes: a second run on any of them is refused,
whatever its inventory is called.

Beside it the process of the run holds a lock. The process ids of another container, whose state is
on the same volume, cannot be seen from here; that its lock is held can. A heal holds the
same lock, so a claim that was read under it stays what it is: two heals cannot meet, and none can
remove the claim of a run that began meanwhile.

A load by itself (`brownout load`, `fill`, `capacity`, `clean`) claims the cluster as well: a run
beside it would measure it. It breaks nothing, so the next run removes its claim.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from brownout.base.errors import Refused, RunDirectoryError
from brownout.base.files import private_directory, private_file, user_state
from brownout.base.locks import NO_LOCKS, Held, Lock, is_locked
from brownout.faults.claimed_nodes import ClaimedNode, overlap
from brownout.machine import procfs

__all__ = [
    "Claim",
    "Kind",
    "check_free",
    "check_over",
    "claim",
    "claim_against",
    "claim_on",
    "claims",
    "healing",
    "holding",
    "lent",
    "refusal",
    "release",
    "state_home",
]

#: A run of an experiment, which may break something, or a load by itself, which breaks nothing.
Kind = Literal["run", "load"]

#: Who only looks whether a lock is held holds it for a moment.
_LOOKED_WITHIN_S = 1.0
#: The locks of this process, by cluster; they end with it.
_locks: dict[str, Lock] = {}
#: A heal holds the lock of this name before and after that of the cluster, which therefore is a
#: heal's while both are held. No cluster is called so.
_HEALING = ".heal-"
#: Only one process at a time compares its nodes with those of all claims. No cluster is called so.
_COMPARING = ".comparing"
#: That takes a moment, unless that process is stopped in it.
_COMPARED_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A run's hold on a cluster. `inventory` is what `inventory.declared` takes to find it.

    By its `token` the claim in the cluster itself is known to be of the same run; that one may lie
    in `namespace`.
    """

    cluster: str
    run: str
    inventory: str
    brought_up: bool
    pid: int
    started: int
    command: tuple[str, ...]
    kind: Kind = "run"
    nodes: tuple[ClaimedNode, ...] = ()
    token: str = ""
    namespace: str = ""

    @property
    def process(self) -> procfs.Identity:
        """The process that runs it; that of another container cannot be seen here."""
        return procfs.Identity(self.pid, self.started, self.command)

    def is_alive(self) -> bool:
        """Whether the process that runs it still exists, also in another container.

        Raises `BrownoutError` where that cannot be told.
        """
        if procfs.is_alive(self.process):
            return True
        held, healed = _lock_file(self.cluster), _lock_file(f"{_HEALING}{self.cluster}")
        try:
            return all(is_locked(held) and not is_locked(healed) for _ in range(2))
        except OSError as error:
            raise _unlockable(error) from error


#: The claims of this process, by cluster.
_mine: dict[str, Claim] = {}


def state_home() -> Path:
    """Where brownout keeps what outlives a run: BROWNOUT_STATE, else under the XDG state home."""
    if given := os.environ.get("BROWNOUT_STATE"):
        return Path(given)
    return user_state()


def check_free(cluster: str, nodes: Sequence[ClaimedNode] = ()) -> None:
    """Raise `Refused` where another run has `cluster` or one of `nodes`, or died holding it."""
    if (held := claim_against(cluster, nodes)) is not None:
        raise refusal(held, cluster, nodes)


def claim(
    cluster: str,
    run: Path,
    inventory: str,
    brought_up: bool,
    kind: Kind = "run",
    nodes: Sequence[ClaimedNode] = (),
    namespace: str = "",
) -> Claim:
    """Take `cluster` with its `nodes` for `run`, whose load is written to `namespace`.

    Raises `Refused` where another run has it or one of its nodes, or died holding it.
    """
    me = procfs.identify(os.getpid())
    if me is None:
        raise RunDirectoryError("this process cannot be read from /proc")
    where = str(run.resolve())
    mine = Claim(
        cluster, where, inventory, brought_up, me.pid, me.started, me.command, kind, tuple(nodes),
        secrets.token_hex(8), namespace,
    )  # fmt: skip
    return _take(mine)


def _take(mine: Claim) -> Claim:
    path = _path(mine.cluster)
    _make_directory()
    draft = path.with_name(f"{path.name}.{mine.pid}")
    _write(draft, json.dumps(asdict(mine)))
    try:
        with _alone():
            check_free(mine.cluster, mine.nodes)
            _lock(mine.cluster)
            os.link(draft, path)  # fails where one is there: two runs cannot both have it
    except FileExistsError:
        _unlock(mine.cluster)
        check_free(mine.cluster, mine.nodes)
        raise Refused(f"another run just had cluster `{mine.cluster}`", "try again") from None
    finally:
        draft.unlink()
    _mine[mine.cluster] = mine
    _sync(path.parent)
    return mine


@contextmanager
def holding(
    cluster: str,
    run: Path,
    inventory: str,
    *,
    brought_up: bool,
    nodes: Sequence[ClaimedNode] = (),
    namespace: str = "",
) -> Iterator[Claim]:
    """Have `cluster` with its `nodes` for a load by itself while the block lasts."""
    mine = claim(cluster, run, inventory, brought_up, "load", nodes, namespace)
    try:
        yield mine
    finally:
        release(cluster)


@contextmanager
def lent(cluster: str) -> Iterator[None]:
    """Let another process have our `cluster` while the block lasts, then take it again.

    It is not taken again where the block fails. Raises `Refused` where another process was quicker.
    """
    mine = _mine[cluster]
    release(cluster)
    yield
    _take(mine)


@contextmanager
def healing(held: Claim) -> Iterator[bool]:
    """Have what `held` had, to put it back; False where it is not there any more.

    No other process heals it meanwhile, and no run can begin. Raises `Refused` while the run
    lives, and where another process heals it.
    """
    if held.is_alive():
        raise Refused(
            f"the run {held.run} (process {held.pid}) is still running",
            f"`brownout abort {held.run}` ends it and puts everything back",
        )
    _make_directory()
    _lock(f"{_HEALING}{held.cluster}")
    try:
        _lock(held.cluster)
        present = claim_on(held.cluster)
        # To put back twice does no harm; a lab that is up again may belong to another run.
        yield present == held or (present is None and not held.brought_up)
    finally:
        _unlock(held.cluster)
        _unlock(f"{_HEALING}{held.cluster}")


def claim_on(cluster: str) -> Claim | None:
    """Return the claim on `cluster` that there is now, of a living or a dead run."""
    return _read(_path(cluster))


def claim_against(cluster: str, nodes: Sequence[ClaimedNode]) -> Claim | None:
    """Return the claim that keeps `cluster` or one of `nodes` from us; None if they are free."""
    if (held := claim_on(cluster)) is not None:
        return held
    return next((held for held in claims() if overlap(nodes, held.nodes) is not None), None)


def claims() -> list[Claim]:
    """Return every claim there is, of living and of dead runs."""
    every = map(_read, sorted(_directory().glob("*.json")))
    return [held for held in every if held is not None]


def check_over(run: Path) -> None:
    """Raise `Refused` while `run` is in progress, or where it died and is not healed yet."""
    here = str(run.resolve())
    for held in claims():
        if held.run == here:
            alive = held.is_alive()
            state = "is in progress" if alive else "died before it had put everything back"
            raise Refused(
                f"the run {run.name} {state}, so its files are not final",
                "wait for its end" if alive else "`brownout heal` it first",
            )


def release(cluster: str, held: Claim | None = None) -> None:
    """Release `cluster`: everything is put back.

    Only a claim of this process goes, or the one that was `held` and is healed; never another.
    """
    ours = held or _mine.pop(cluster, None)
    if ours is not None and claim_on(cluster) == ours:
        _path(cluster).unlink(missing_ok=True)
    if held is None:
        _unlock(cluster)
    if _directory().is_dir():
        _sync(_directory())


def refusal(held: Claim, cluster: str, nodes: Sequence[ClaimedNode]) -> Refused:
    """Return why `cluster` with its `nodes` cannot be taken while there is the claim `held`."""
    common = overlap(nodes, held.nodes) if held.cluster != cluster else None
    has = f"cluster `{held.cluster}`"
    if common is not None:
        ours, theirs = common
        has = f"node {ours} of cluster `{cluster}`, which is node {theirs} of {has},"
    if held.is_alive():
        return Refused(
            f"{has} is in the hands of the run {held.run} (process {held.pid})",
            "wait for it, or `brownout abort` it",
        )
    return Refused(
        f"{has} was in the hands of the run {held.run}, which died before it had put everything "
        "back",
        f"`brownout heal {held.cluster}` does that",
    )


def _directory() -> Path:
    return state_home() / "open"


def _path(cluster: str) -> Path:
    return _directory() / f"{cluster}.json"


def _lock(name: str) -> None:
    """Hold the lock of a cluster, or of its heal, as long as this process lives.

    Raises `Refused` where another process has it.
    """
    try:
        _locks[name] = Lock(_lock_file(name)).take(_LOOKED_WITHIN_S)
    except Held:
        cluster = name.removeprefix(_HEALING)
        healing = cluster != name or is_locked(_lock_file(f"{_HEALING}{cluster}"))
        doing = "healing" if healing else "taking"
        raise Refused(
            f"another process is {doing} cluster `{cluster}` at this moment", "wait for it"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise _unlockable(error) from error
        return  # then only processes of this machine are seen


@contextmanager
def _alone() -> Iterator[None]:
    """Let no other process take any cluster while the block lasts."""
    lock = Lock(_lock_file(_COMPARING))
    try:
        lock.take(_COMPARED_WITHIN_S)
    except Held as error:
        raise Refused(
            f"{error.holder} has been taking a cluster for {_COMPARED_WITHIN_S:g} s", "try again"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise _unlockable(error) from error
    try:
        yield
    finally:
        lock.release()


def _unlockable(error: OSError) -> RunDirectoryError:
    return RunDirectoryError(
        f"{_directory()}: nothing shows whether a run is in progress: {error.strerror}",
        "see why, then try again",
    )


def _unlock(cluster: str) -> None:
    if (lock := _locks.pop(cluster, None)) is not None:
        lock.release()


def _make_directory() -> None:
    try:
        private_directory(_directory())
    except OSError as error:
        raise RunDirectoryError(
            f"{_directory()}: cannot be made: {error.strerror}",
            "set BROWNOUT_STATE to a directory that can be written",
        ) from error


def _lock_file(name: str) -> Path:
    return _directory() / f"{name}.lock"


def _read(path: Path) -> Claim | None:
    """Return the claim in a file; None where it was released."""
    try:
        data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        nodes = tuple(
            ClaimedNode(node["name"], node["address"], tuple(node["identities"]))
            for node in data.get("nodes", ())
        )
        return Claim(**{**data, "command": tuple(data["command"]), "nodes": nodes})
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunDirectoryError(
            f"{path}: cannot be read: {error.strerror}", "see why, then try again"
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise RunDirectoryError(
            f"{path}: not a claim of a run: {error}",
            "see whether a run is in progress; if none is, remove the file",
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        with private_file(path).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be written: {error.strerror}") from error


def _sync(directory: Path) -> None:
    """Make the directory's entries survive a power cut too."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
