"""When another tool's fault began and ended, and on what, as its own object says it. Pure.

A tool's clock need not be ours. When we looked bounds each moment as well, and what the tool says
counts only as far as it lies within that.

    looks      no ─────────────── yes            looks        no ───── yes
    the tool        [08:01:02, +1 s]             the tool                     [08:01:09, +1 s]
    effective       └───────┘                    effective       └─────┘  (its clock differs)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from brownout.base.errors import ClusterError, NoAnswer
from brownout.base.wait import wait_until

__all__ = ["Account", "Moment", "Seen", "Source", "await_moment", "moment_of"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of another clock, in Unix seconds: from `first` to `last`."""

    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Account:
    """What a tool says of its fault now: `began` and `ended` are None as long as it has not.

    `targets` are the names that the tool has for them. `complaint` says what is wrong, `is_dead`
    that nothing more will come. `breach` says why what it did is not the fault that was meant.
    """

    state: str
    began: Moment | None = None
    ended: Moment | None = None
    targets: tuple[str, ...] = ()
    complaint: str = ""
    is_dead: bool = False
    breach: str = ""

    def moment(self, kind: str) -> Moment | None:
        """Return when it began (`break`) or ended (`mend`)."""
        return self.began if kind == "break" else self.ended


@dataclass(frozen=True, slots=True)
class Seen:
    """A moment on our own monotonic clock, from `first` to `last`, and what proves it.

    `breach` says why the fault is not the one that was meant, if it is not.
    """

    first: float
    last: float
    evidence: dict[str, Any] = field(default_factory=dict)
    breach: str = ""


class Source(Protocol):
    """One fault of another tool; `words` name it, as `PodChaos shop/kill-one`."""

    words: str

    def look(self) -> Account | None:
        """Return what the tool says now; None while the fault does not exist.

        Raises `NoAnswer` where asking again may help.
        """

    def close(self) -> None:
        """Give back its connections."""


def moment_of(value: Any, resolution_s: float) -> Moment | None:
    """Read a time as APIs write it: ISO 8601, seconds since 1970, or a datetime."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        at = value
    elif isinstance(value, int | float):
        at = datetime.fromtimestamp(value, UTC)
    else:
        at = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return Moment(at.timestamp(), at.timestamp() + resolution_s)


def await_moment(
    look: Callable[[], Account | None],
    kind: str,
    what: str,
    within_s: float,
    stopped: Callable[[], bool],
    monotonic: Callable[[], float],
    wall: Callable[[], float],
    gone_is_over: bool = False,
) -> Seen:
    """Look until the fault has begun (`break`) or ended (`mend`).

    An object that is not there has not begun; if `gone_is_over`, it was there and has ended.

    Raises `ClusterError` with what the tool says where that is not so within `within_s` seconds.
    A look without an answer is repeated until then; `NoAnswer` says that the last one had none.
    """
    looks: list[tuple[float, float, Account | None]] = []

    def once() -> bool:
        before = monotonic()
        account = look()
        if account is None and gone_is_over:
            account = Account("deleted", ended=Moment(0.0, wall()))
        looks.append((before, monotonic(), account))
        return account is not None and (account.moment(kind) is not None or account.is_dead)

    verb = "begin" if kind == "break" else "end"
    try:
        wait_until(once, within_s, 0.5, despite=NoAnswer, stopped=stopped)
    except NoAnswer as error:
        raise NoAnswer(
            f"{what}: whether it did {verb} within {within_s:g} s is not known: {error.message}",
            error.hint,
        ) from error
    before, after, account = looks[-1]
    moment = account.moment(kind) if account is not None else None
    if account is None or moment is None:
        state = "does not exist" if account is None else f"is {account.state}"
        complaint = f": {account.complaint}" if account is not None and account.complaint else ""
        raise ClusterError(
            f"{what} did not {verb} within {within_s:g} s: it {state}{complaint}",
            "look at the object itself, or allow more time",
        )
    # The last look that said no began before the fault did.
    no = looks[-2][0] if len(looks) > 1 else float("-inf")
    offset = monotonic() - wall()
    first, last = moment.first + offset, moment.last + offset
    evidence: dict[str, Any] = {"state": account.state, "targets": list(account.targets)}
    if last < no or first > after:
        differs = first - after if first > after else last - no
        evidence["clock_differs_s"] = round(differs, 3)
        first, last = max(no, before), after
    return Seen(max(first, no), min(max(last, no), after), evidence, account.breach)
