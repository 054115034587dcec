"""Faults by others: what an experiment breaks by steps that are not brownout's.

    named in `breaks` or `mends`, or marked ──▶ a break or a mend, measured like one of ours
    any other step of another provider      ──▶ a `step`, so that its dip is not booked elsewhere

The times are those of the step; its effect is proven by the first change that the cluster's own
members show. Nothing is put back here: the experiment's rollbacks do that.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from brownout.base.errors import BrownoutError, NoAnswer
from brownout.faults.others.account import Seen
from brownout.run import contract
from brownout.run.contract import Breach
from brownout.run.events import EventLog
from brownout.session.activity import fault_of, function_at
from brownout.session.milestones import Crossing

__all__ = ["EFFECT_WITHIN_S", "ExternalFaults", "ExternalSteps", "external_steps", "provided_by"]

#: How long after its step a break may take effect, where the experiment does not say.
EFFECT_WITHIN_S = 10.0
Activity = Mapping[str, Any]
#: Activities that mark what the account of another tool says.
_BY_ACCOUNT = ("break_by_chaos_mesh", "mend_by_chaos_mesh", "break_by_fis", "mend_by_fis")


@dataclass(frozen=True, slots=True)
class ExternalSteps:
    """Which steps of other providers break something or undo that, by their names.

    `harmless` ones do neither. Each break takes effect within `effect_within_s` seconds after the
    end of its step. `awaits_mend` says whether what is broken stays so until a mend ends.
    """

    breaks: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    effect_within_s: float = EFFECT_WITHIN_S
    marks: bool = False
    awaits_mend: bool = False

    def __bool__(self) -> bool:
        return bool(self.breaks or self.marks)

    def kind(self, name: str) -> str:
        """Return the type of a step's event: `break`, `mend` or `step`."""
        return "break" if name in self.breaks else "mend" if name in self.mends else "step"


def external_steps(
    experiment: Mapping[str, Any], extension: Mapping[str, Any], problems: list[str]
) -> ExternalSteps:
    """Read which steps of others break and which undo; mistakes join `problems`."""
    method = list(_activities(experiment, "method"))
    rollbacks = list(_activities(experiment, "rollbacks"))
    lists = {}
    for key, steps in (
        ("breaks", method),
        ("mends", [*method, *rollbacks]),
        ("harmless", [*method, *rollbacks]),
    ):
        lists[key] = tuple(_names(key, extension.get(key, ()), steps, problems))
    for name in sorted(set(lists["breaks"]) & {*lists["mends"], *lists["harmless"]}):
        problems.append(f"extensions.breaks: `{name}` is also in `mends` or `harmless`")
    within_s = extension.get("effect_within_s", EFFECT_WITHIN_S)
    if isinstance(within_s, bool) or not isinstance(within_s, int | float) or within_s <= 0:
        problems.append(
            f"extensions.effect_within_s: found {within_s!r}, wanted seconds above 0, for example "
            f"{EFFECT_WITHIN_S:g}"
        )
        within_s = EFFECT_WITHIN_S
    marks = {
        _function(step).partition("_")[0 if _function(step) in _BY_ACCOUNT else 2]
        for step in method
        if _module(step) == "brownout.actions.mark"
    }
    in_method = {str(step.get("name")) for step in method}
    if _asks_us(experiment) and lists["mends"] and not in_method & set(lists["mends"]):
        problems.append(
            "extensions.mends: all are rollbacks, but a probe of brownout in the hypothesis ends "
            "the measuring before the rollbacks; undo in the method, or take the probe out"
        )
    return ExternalSteps(
        **lists,
        effect_within_s=float(within_s),
        marks="break" in marks,
        awaits_mend=bool(lists["mends"]) or "mend" in marks,
    )


def provided_by(activity: Activity) -> str:
    """Return who does a step, without arguments: `process ./kill.sh`, `chaosk8s.pod.actions.…`."""
    provider = activity.get("provider") or {}
    kind = provider.get("type")
    if kind == "python":
        return f"{provider.get('module')}.{provider.get('func')}"
    if kind == "http":
        where = urlsplit(str(provider.get("url", "")))
        return f"{provider.get('method', 'GET')} {where.hostname or ''}{where.path}"
    return f"{kind} {provider.get('path', '')}".strip()


def _is_ours(activity: Activity) -> bool:
    """Whether a step is brownout's own, or a fault of a package that brownout loads."""
    provider = activity.get("provider") or {}
    if provider.get("type") != "python":
        return False
    if _module(activity).startswith("brownout."):
        return True
    return fault_of(function_at(provided_by(activity))) is not None


def _activities(experiment: Mapping[str, Any], part: str) -> Iterator[Activity]:
    steps = experiment.get(part)
    if isinstance(steps, Sequence) and not isinstance(steps, str):
        yield from (step for step in steps if isinstance(step, Mapping))


def _module(activity: Activity) -> str:
    return str((activity.get("provider") or {}).get("module", ""))


def _function(activity: Activity) -> str:
    return str((activity.get("provider") or {}).get("func", ""))


def _asks_us(experiment: Mapping[str, Any]) -> bool:
    """Whether the hypothesis has a probe that ends the measuring."""
    hypothesis = experiment.get("steady-state-hypothesis") or {}
    probes = hypothesis.get("probes") if isinstance(hypothesis, Mapping) else ()
    asked = [probe for probe in probes or () if isinstance(probe, Mapping)]
    return any(
        _module(probe) == "brownout.probes.impact" or _function(probe) == "cluster_is_whole"
        for probe in asked
    )


def _names(key: str, given: Any, steps: Sequence[Activity], problems: list[str]) -> Iterator[str]:
    """Yield the names in one of the lists; each has to be a step of another provider."""
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        problems.append(f"extensions.{key}: found {given!r}, wanted a list of names of steps")
        return
    by_name = {str(step.get("name")): step for step in steps}
    for name in dict.fromkeys(given):
        step = by_name.get(name)
        if step is None:
            alike = get_close_matches(name, by_name, 1)
            meant = f"; did you mean `{alike[0]}`?" if alike else ""
            where = "the method" if key == "breaks" else "the method or the rollbacks"
            problems.append(f"extensions.{key}: `{name}` is not a step of {where}{meant}")
        elif _is_ours(step):
            problems.append(
                f"extensions.{key}: `{name}` is an activity of brownout, which records itself"
            )
        else:
            yield name


@dataclass(slots=True)
class _Break:
    """A break by others: its event, when its step began and ended, in monotonic seconds.

    `watched` says whether a change of the cluster's members can be told to be its effect.
    """

    entry: int
    provider: str
    began: float
    watched: bool
    ended: float | None = None
    is_proven: bool = False
    is_mended: bool = False


class ExternalFaults:
    """The steps of others in one run, written down as they begin and end.

    `change` says between which looks the cluster's members changed since the latest fault began,
    `before_break` begins to look, and `to_t` turns monotonic seconds into those of the run.
    """

    def __init__(
        self,
        steps: ExternalSteps,
        events: EventLog,
        to_t: Callable[[float], float | None],
        before_break: Callable[[], None],
        change: Callable[[], Crossing],
    ) -> None:
        self._steps, self._events, self._to_t = steps, events, to_t
        self._before_break, self._change = before_break, change
        self._breaks: list[_Break] = []
        self._entries: dict[int, tuple[str, int, float]] = {}
        self._followed: set[str] = set()
        self._breaches: set[str] = set()
        self._lock = threading.Lock()

    def breaks(self, activity: Activity) -> bool:
        """Whether this step is declared to break something."""
        return self._steps.kind(str(activity.get("name"))) == "break"

    def begin(self, activity: Activity) -> None:
        """Write that a step begins; one of brownout's own writes that itself.

        Raises `RunDirectoryError` where it is a break and cannot be written down.
        """
        if _is_ours(activity):
            return
        name = str(activity.get("name"))
        kind, provider = self._steps.kind(name), provided_by(activity)
        role = "harmless" if name in self._steps.harmless else str(activity.get("type"))
        entry = self._intend(kind, name, provider, role)
        self._entries[id(activity)] = (kind, entry, time.monotonic())

    def end(self, activity: Activity, error: str | None) -> None:
        """Write that a step is over, or that it failed and why."""
        kind, entry, began = self._entries.pop(id(activity), ("", 0, 0.0))
        if kind:
            self._over(kind, entry, began, error)

    def mark(self, kind: str, name: str, provider: str) -> dict[str, Any]:
        """Write a break or a mend that happens at this moment, outside the experiment's steps."""
        entry = self._intend(kind, name, provider, "mark")
        self._over(kind, entry, time.monotonic(), None)
        return {"name": name, "by": provider, "t": self._to_t(time.monotonic())}

    def followed(self, name: str) -> bool:
        """Whether this fault of another tool was seen to begin in this run."""
        return name in self._followed

    def follow(
        self, kind: str, name: str, provider: str, await_it: Callable[[], Seen]
    ) -> dict[str, Any]:
        """Write a break or a mend of which another tool's own account says when it was.

        `await_it` waits until it is so; what it raises is written, too. A break whose tool gave no
        answer may have happened: what follows waits for its mend.
        """
        entry, began = self._intend(kind, name, provider, "account"), time.monotonic()
        try:
            seen = await_it()
        except BrownoutError as error:
            self._over(kind, entry, began, str(error), unknown=isinstance(error, NoAnswer))
            raise
        if kind == "break":
            self._followed.add(name)
        evidence = {"by": provider, "seen": f"{name} says so", **seen.evidence}
        with self._lock:
            ends = [each.ended for each in self._breaks if each.ended is not None]
        first = max([seen.first, *(ends if kind == "mend" else [])])
        uncertainty = round(max(0.0, seen.last - first), 6)
        self._events.effective(entry, self._to_t(seen.last), uncertainty, evidence)
        self._events.ended(entry)
        self._write_breach(name, seen.breach)
        with self._lock:
            for each in self._breaks:
                if each.entry == entry:
                    each.ended, each.is_proven = seen.last, True
                    each.is_mended = not self._steps.awaits_mend
                elif kind == "mend" and each.ended is not None and each.ended <= seen.last:
                    each.is_mended = True
        return {"name": name, "by": provider, "t": self._to_t(seen.last), "evidence": evidence}

    def _write_breach(self, name: str, why: str) -> None:
        """Write once that a fault was not the one that was meant."""
        detail = f"{name}: {why}"
        if why and detail not in self._breaches:
            self._breaches.add(detail)
            contract.write(self._events, Breach(contract.DURATION, detail))

    def settled(self) -> bool:
        """Whether no fault of others lasts; writes the effects that were seen meanwhile."""
        with self._lock:
            return not any([self._lasts(each) for each in self._breaks])

    def effects_known(self) -> bool:
        """Whether each break had its effect, or its time for one."""
        with self._lock:
            return all([self._is_known(each) for each in self._breaks])

    def _intend(self, kind: str, name: str, provider: str, role: str) -> int:
        if kind == "break":
            with self._lock:
                for each in self._breaks:
                    self._prove(each, last=True)
            self._before_break()
        entry = self._events.intent(kind, name, arguments={"by": provider, "kind": role})
        if kind == "break":
            watched = self._change().first_yes is None
            with self._lock:
                self._breaks.append(_Break(entry, provider, time.monotonic(), watched))
        return entry

    def _over(
        self, kind: str, entry: int, began: float, error: str | None, *, unknown: bool = False
    ) -> None:
        now = time.monotonic()
        if error is not None:
            self._events.failed(entry, error)
            with self._lock:
                for each in self._breaks:
                    if each.entry == entry:
                        each.ended, each.is_proven = began, True
                if not unknown:
                    self._breaks = [each for each in self._breaks if each.entry != entry]
            return
        if kind == "mend":
            self._events.effective(entry, self._to_t(now), now - began, {})
        self._events.ended(entry)
        with self._lock:
            for each in self._breaks:
                if each.entry == entry:
                    each.ended = now
                    each.is_mended = not self._steps.awaits_mend
                elif kind == "mend" and each.ended is not None and each.ended <= began:
                    each.is_mended = True

    def _lasts(self, each: _Break) -> bool:
        return not self._is_known(each) or not each.is_mended

    def _is_known(self, each: _Break) -> bool:
        self._prove(each)
        return each.is_proven and each.ended is not None

    def _prove(self, each: _Break, last: bool = False) -> None:
        """Write the effect of a break: as the cluster shows it, or else as its step has it."""
        if each.is_proven:
            return
        seen = self._change() if each.watched else Crossing("changed")
        if seen.first_yes is not None:
            since = each.began if seen.last_no is None else max(seen.last_no, each.began)
            evidence = {"by": each.provider, "seen": "the members changed", **seen.detail}
            uncertainty = max(0.0, seen.first_yes - since)
            self._events.effective(each.entry, self._to_t(seen.first_yes), uncertainty, evidence)
            each.is_proven = True
            return
        if each.ended is None:
            return
        if last or not each.watched or time.monotonic() > each.ended + self._steps.effect_within_s:
            evidence = {"by": each.provider, "seen": "nothing but that its step ended"}
            length = each.ended - each.began
            self._events.effective(each.entry, self._to_t(each.ended), length, evidence)
            each.is_proven = True
