"""The table in the terminal at the end of a run: what was broken, what it cost, the verdict."""

from collections.abc import Mapping
from typing import Any

from brownout.base.words import duration
from brownout.measure.measures import Measure, label, measures
from brownout.show.report import canary
from brownout.show.report.noise import detectable_words, sham_words, stable_words
from brownout.show.report.words import between, number, pace, quantity

__all__ = ["render"]

Impact = Mapping[str, Any]


def render(impact: Impact, path: str) -> str:
    """Render `impact` (see docs/run-directory.md) as the text that ends a run."""
    lines = [_title(impact), *_circumstances(impact), ""]
    for fault in impact["faults"]:
        lines += [*_table(impact, fault), ""]
    if seen := impact.get("canary"):
        lines += [*canary.lines(seen), ""]
    lines += [*(impact.get("remarks") or ()), *impact["reasons"]]
    lines.append(f"{impact['verdict'].upper()}   {path}")
    return "\n".join(lines)


def _title(impact: Impact) -> str:
    """`node-wipe (kill) · staging (3 × stone 6.0.5) · lab 800/s open loop, deadline 1 s …`."""
    cluster, experiment, load = impact["cluster"], impact["experiment"], impact["load"]
    mode = f" ({experiment['mode']})" if experiment.get("mode") else ""
    stand_in = " · STAND-IN" if impact["stand_in"] else ""
    return " · ".join(
        [
            f"{experiment['name']}{mode}",
            f"{cluster['name']} ({cluster['members']} × {cluster['engine']}){stand_in}",
            f"{impact['workload']['name']} {pace(load)}, deadline {duration(impact['deadline_s'])}",
            f"seed {impact['seed']}",
        ]
    )


def _circumstances(impact: Impact) -> list[str]:
    """The baseline and each event of the faults, one line each."""
    lines = []
    base = impact["baseline"]
    if base and base["tps"] is not None:
        stable = stable_words(base)
        known = base["low"] is not None
        interval = f" [{number(base['low'])}, {number(base['high'])}]" if known else ""
        lines.append(f"baseline {number(base['tps'])}/s{interval}, {stable}")
        if base["tps"] and base.get("detectable_drop") is not None:
            lines.append(detectable_words(base["detectable_drop"]))
    for sham in impact.get("shams") or []:
        lines.append(sham_words(sham))
    for fault in impact["faults"]:
        for event in fault["events"]:
            lines.append(_event(event))
    return lines


def _event(event: Mapping[str, Any]) -> str:
    """`20.4 s  kill_node n1`, with how far off that may be."""
    when = event["effective"] if event["effective"] is not None else event["requested"]
    node = f" {event['node']}" if event["node"] else ""
    at = "   ?    " if when is None else f"{when:7.1f} s"
    failed = "  FAILED" if event.get("error") else ""
    return f"{at}  {event['name']}{node}{failed}"


def _table(impact: Impact, fault: Mapping[str, Any]) -> list[str]:
    """The rows of one fault, aligned, with a header."""
    limits = {(slo["name"], slo["scope"]): slo for slo in impact["slos"]}
    rows = [("measure", "value", "limit", "met")]
    for name in (measure.name for measure in measures().values() if _has_row(measure, fault)):
        slo = limits.pop((name, "total"), None)
        if name == "lost_operations" and slo is None:  # its row shows the seconds as well
            slo = limits.pop(("lost_seconds", "total"), None)
        rows.append((label(name), _value(impact, fault, name), *_limit(slo)))
    for (name, scope), slo in limits.items():
        words = label(name) + (f" ({scope})" if scope != "total" else "")
        ends = (slo.get("best"), slo.get("worst"))
        value = between(ends, lambda end, name=name: quantity(name, end), slo["value"])  # type: ignore[misc]
        rows.append((words, value, *_limit(slo)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _has_row(measure: Measure, fault: Mapping[str, Any]) -> bool:
    """Whether a fault's table shows a measure though it has no limit."""
    if measure.planned:
        return fault.get(measure.name) is not None and not measure.name.endswith("_per_s")
    return measure.main


def _value(impact: Impact, fault: Mapping[str, Any], name: str) -> str:
    """One measure in words."""
    if name == "lost_writes":
        return _lost_writes(impact["ledger"])
    ranges = fault.get("ranges") or {}
    words = between(ranges.get(name), lambda value: quantity(name, value), fault.get(name))
    if name == "tps_drop" and fault["tps_drop_sham"] is not None:
        words += f"  (noise {quantity(name, fault['tps_drop_sham'])})"
    rate = fault.get(f"{name}_per_s")
    if rate is not None:
        words += f"  ({quantity(name, rate)} a second)"
    if name == "lost_operations" and fault["lost_seconds"] is not None:
        words += f"  ({between(ranges.get('lost_seconds'), _seconds, fault['lost_seconds'])})"
    return words


def _seconds(value: float | None) -> str:
    return quantity("lost_seconds", value)


def _lost_writes(ledger: Mapping[str, Any]) -> str:
    """`0 of 41,220`, or that it is not known."""
    if ledger["state"] == "unknown":
        return "unknown"
    acknowledged = ledger["acknowledged"] + (ledger.get("data_keys") or 0)
    return f"{number(ledger['lost'])} of {number(acknowledged)}"


def _limit(slo: Mapping[str, Any] | None) -> tuple[str, str]:
    """The limit and whether it was met; a dash where there is none."""
    if slo is None:
        return "–", ""
    sign = "≥ " if slo["direction"] == "at_least" else "≤ "
    met = {True: "yes", False: "NO", None: "open"}[slo["met"]]
    none = slo["limit"] == 0 and slo["direction"] == "at_most"
    return f"{'' if none else sign}{quantity(slo['name'], slo['limit'])}", met
