"""What one step says: the SLA holds, is breached, or cannot be judged. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from brownout.runs.capacity.search import Verdict

__all__ = ["TERMS", "Figures", "Judgement", "Promise", "Terms", "judge", "percentile_name"]

#: The generator may be late by this share of the tightest limit before it is suspected.
_LAG_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Promise:
    """One percentile that a stream's operations promise.

    `scope` is `total`, `read`, `write` or one operation; `ratio` 0.999 is p99.9, 1 the longest.
    """

    stream: str
    scope: str
    ratio: float
    limit_us: int

    @property
    def name(self) -> str:
        """`profile read p99.9`."""
        scope = "" if self.scope == "total" else f" {self.scope}"
        return f"{self.stream}{scope} {percentile_name(self.ratio)}"


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds besides the percentiles, for each stream; ratios of what was offered.

    A step in which the generator was late or missed more than is allowed here is not judged.
    """

    achieved_min: float = 0.99
    error_ratio_max: float = 0.0001
    missed_ratio_max: float = 0.001
    lag_p99_max_ms: float = 50.0


TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Figures:
    """What a stream did in the window that is judged; counts by intended start.

    `errors` were late, failed, in doubt or shed. `percentiles_us` has the value of each promise
    of the stream by its name: None is longer than the deadline, and one of which no operation
    ended in the window is not in it.
    """

    stream: str
    offered: int
    ok: int
    errors: int
    missed: int
    percentiles_us: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and why, in words; nothing to say where all holds."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()


def judge(
    figures: Sequence[Figures], promises: Sequence[Promise], terms: Terms, lag_p99_ms: float | None
) -> Judgement:
    """Return what the figures of all streams say.

    `lag_p99_ms` is how late the generator sent; None where it does not report it, which counts as
    no data.
    """
    unfit = [*_unfit(figures, terms, lag_p99_ms), *_unmeasured(promises, figures)]
    if unfit:
        return Judgement("limited", tuple(unfit))
    served = [reason for each in figures for reason in _served(each, terms)]
    slow = [reason for promise in promises for reason in _slow(promise, figures)]
    if slow and not served and _suspected(promises, figures, lag_p99_ms or 0.0):
        late = f"the load generator itself was late by {lag_p99_ms:.1f} ms (p99)"
        return Judgement("limited", (f"{late}, too much to judge: {slow[0]}", *slow[1:]))
    return Judgement("breach" if served or slow else "holds", (*served, *slow))


def percentile_name(ratio: float) -> str:
    """`p99.9`; `max` for the longest."""
    return "max" if ratio >= 1 else f"p{100 * ratio:.10g}"


def _unfit(figures: Sequence[Figures], terms: Terms, lag_p99_ms: float | None) -> list[str]:
    """Return why the step says nothing about the database."""
    offered, missed = (sum(getattr(f, name) for f in figures) for name in ("offered", "missed"))
    idle = [each.stream for each in figures if not each.offered]
    reasons = []
    if idle or not figures:
        reasons.append(f"nothing was offered by {', '.join(idle) or 'any stream'}")
    if missed > terms.missed_ratio_max * offered:
        reasons.append(f"the load generator did not get to {missed:,} of {offered:,} operations")
    if lag_p99_ms is None:
        reasons.append("the load generator does not say how late it was")
    elif lag_p99_ms > terms.lag_p99_max_ms:
        reasons.append(f"the load generator was late by {lag_p99_ms:.1f} ms (p99)")
    return reasons


def _served(figures: Figures, terms: Terms) -> list[str]:
    """Return what was not served as promised; one error is always allowed."""
    reasons = []
    if figures.ok < terms.achieved_min * figures.offered:
        reasons.append(f"{figures.stream}: {figures.ok / figures.offered:.2%} of the load served, "
                       f"wanted {terms.achieved_min:.0%}")  # fmt: skip
    if figures.errors > max(1.0, terms.error_ratio_max * figures.offered):
        reasons.append(f"{figures.stream}: {figures.errors / figures.offered:.3%} errors, "
                       f"wanted at most {terms.error_ratio_max:.2%}")  # fmt: skip
    return reasons


def _unmeasured(promises: Sequence[Promise], figures: Sequence[Figures]) -> list[str]:
    measured = {name for each in figures for name in each.percentiles_us}
    return [f"{p.name}: no such operation ended" for p in promises if p.name not in measured]


def _slow(promise: Promise, figures: Sequence[Figures]) -> list[str]:
    own = next(each for each in figures if each.stream == promise.stream)
    value, limit = own.percentiles_us[promise.name], f"{promise.limit_us / 1000:,.4g} ms"
    if value is None:
        return [f"{promise.name}: longer than the deadline, wanted {limit}"]
    if value > promise.limit_us:
        return [f"{promise.name}: {value / 1000:,.4g} ms, wanted {limit}"]
    return []


def _suspected(promises: Sequence[Promise], figures: Sequence[Figures], lag_p99_ms: float) -> bool:
    """Say whether the generator's own lateness may be what broke the promises."""
    broken = [promise for promise in promises if _slow(promise, figures)]
    return all(lag_p99_ms * 1000 > _LAG_SHARE * promise.limit_us for promise in broken)
