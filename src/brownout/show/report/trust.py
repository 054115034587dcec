"""The tables that say whether the run can be believed: validity, baseline, noise, the generator."""

from collections.abc import Mapping
from typing import Any

from brownout.base.words import duration
from brownout.measure.baseline import BaselineFigures
from brownout.measure.impact import Fault
from brownout.show.report.grid import Cell, Grid, Words, columns
from brownout.show.report.material import Material
from brownout.show.report.noise import sham_words, stable_words
from brownout.show.report.values import NONE, worded
from brownout.show.report.words import number

__all__ = ["baseline", "generator", "noise", "validity"]


def validity(material: Material) -> Grid:
    """Each condition without which there is no verdict."""
    rows: list[Words] = [
        [check.name.replace("_", " "), _holds(check.ok), check.detail or NONE]
        for check in material.impact.validity
    ]
    note = "" if rows else "Nothing was checked."
    return Grid("Checks of validity", columns("check | holds | detail:wrap"), rows, note)


def baseline(material: Material) -> Grid:
    """The tests that the load had to pass before anything was broken."""
    base = material.impact.baseline
    rows: list[Words] = [
        [test.name.replace("_", " "), _number(test.value), _number(test.limit),
         _holds(test.ok), test.detail]
        for test in base.tests
    ]  # fmt: skip
    heads = columns("test | found:n | limit:n | holds | detail:wrap")
    return Grid("Baseline", heads, rows, _level(base) if base.tests else "No baseline is known.")


def noise(material: Material) -> Grid:
    """How much of the drop chance alone makes."""
    base = material.impact.baseline
    rows: list[Words] = [
        [words, worded("tps_drop", value)]
        for value, words in (
            (base.theta, "θ: the least drop of the 1 s mean that stands out from noise"),
            (base.theta_100ms, "the same for single 0.1 s"),
            (base.detectable_drop, "smaller throughput drops are within the noise"),
        )
        if value is not None
    ]
    for sham in material.impact.shams:
        rows.append([sham_words(sham), worded("tps_drop", sham.tps_drop)])
    for fault in material.impact.faults:
        rows += _sham(fault)
    note = (
        "The lowest of many noisy values lies below their mean: the same statistic over a time "
        "without a fault says how much of a drop is not the fault's doing."
    )
    return Grid("Noise", columns("what:wrap | value:n"), rows, note)


def generator(material: Material) -> Grid:
    """What the load generator says of itself."""
    load, facts = material.impact.load, material.generator
    rows: list[Words] = [
        ["loop", str(load.loop or facts.get("loop") or NONE)],
        ["operations offered", _number(load.offered)],
        ["achieved of what was asked, in the baseline", _share(load.achieved_ratio)],
        ["missed: not scheduled in time", _number(load.missed)],
        ["scheduling lag p99", _ms(load.lag_p99_ms)],
        ["ended in order", _holds(bool(facts.get("ended")) if facts else None)],
        *_generators(facts),
        ["why it stopped", str(facts.get("stop_reason") or NONE)],
        ["rows whose sums do not agree", _number(facts.get("identity_violations"))],
    ]
    return Grid("Load generator", columns("what | value:n"), rows)


def _generators(facts: Mapping[str, Any]) -> list[Words]:
    """Where each of several generators ran; nothing where one was alone."""
    parts = [part for part in facts.get("parts") or [] if isinstance(part, Mapping)]
    places = ", ".join(str(part.get("where") or NONE) for part in parts)
    return [[f"{len(parts)} generators, as one", places]] if parts else []


def _sham(fault: Fault) -> list[Words]:
    """The drop of one fault beside what chance makes of it."""
    if fault.total is None or fault.total.drops.tps_drop is None:
        return []
    drops = fault.total.drops
    return [
        [f"drop found: {fault.name}", worded("tps_drop", drops.tps_drop)],
        [f"the same statistic over {duration(drops.tps_drop_sham_window_s)} without a fault",
         worded("tps_drop_sham", drops.tps_drop_sham)],
    ]  # fmt: skip


def _level(base: BaselineFigures) -> str:
    """`Baseline 800/s, 796 to 803 (95 % interval), from 4.3 s to 24.3 s: stable.`"""
    interval = "too short for an interval"
    if ends := base.interval:
        interval = f"{number(ends[0])} to {number(ends[1])} (95 % interval)"
    stable = stable_words(base)
    span = f"from {base.start:.1f} s to {base.end:.1f} s"
    return f"Baseline {number(base.tps)}/s, {interval}, {span}: {stable}."


def _holds(ok: bool | None) -> Cell:
    if ok is None:
        return Cell("? not known", "met unknown")
    return Cell("✓ yes", "met yes") if ok else Cell("✗ no", "met no")


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.2f} %"


def _ms(value: float | None) -> str:
    return NONE if value is None else f"{value:,.2f} ms"
