"""A search as people read it in a terminal: a line a step, and the result."""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.runs.capacity.search import Probe
from brownout.runs.capacity.step import Phase, Step
from brownout.show.report.words import STAND_IN

__all__ = ["line", "percentiles", "rate_words", "render", "trying"]

_SIGNS = {"holds": "holds", "breach": "BREACH", "limited": "not judged"}


def line(step: Step) -> str:
    """`3   1,600/s  holds  100.00 % served, lookups read p99 4.1 ms`."""
    kind = {"step": "", "confirm": " (long run)"}[step.kind]
    what = " with the fault" if step.phase == "faulted" else ""
    text = f"{step.number:3}  {step.rate:10,.0f}/s{what}{kind}  {_SIGNS[step.verdict]}"
    return "  ".join([text, *_figures(step), *step.reasons])


def trying(probe: Probe, phase: Phase) -> str:
    """`trying 1,600/s`, with what it is."""
    kind = "a long run at" if probe.kind == "confirm" else "trying"
    return f"{kind} {probe.rate:,.0f}/s{' with the fault' if phase == 'faulted' else ''} …"


def _figures(step: Step) -> list[str]:
    if step.achieved is None:
        return []
    shown = [f"{step.achieved:.2%} served"]
    shown += [percentiles(each.percentiles_us) for each in step.figures if each.percentiles_us]
    out = step.detail.get("out_s") or {}
    shown += [f"{stream} {seconds} s in dips" for stream, seconds in out.items()]
    return [", ".join(shown)]


def percentiles(values: Mapping[str, int | None]) -> str:
    """`lookups read p99 4.1 ms, lookups read p99.9 too long`."""
    return ", ".join(
        f"{name} " + ("too long" if value is None else f"{value / 1000:,.4g} ms")
        for name, value in values.items()
    )


def rate_words(rate: Mapping[str, Any] | None) -> str:
    """`1,234/s`, `at least 1,234/s`, `no rate`; with a word where no long run confirmed it."""
    if rate is None or rate["rate"] is None:
        return "no rate"
    sure = "" if rate["bound"] == "exact" else "at least "
    confirmed = "" if rate["confirmed"] else ", not confirmed by a long run"
    return f"{sure}{rate['rate']:,.0f}/s{confirmed}"


def render(result: Mapping[str, Any], where: str) -> str:
    """Return the result of a search in a few lines."""
    cluster, workload = result["cluster"], result["workload"]
    nodes = f"{cluster['nodes']} × {cluster['engine']}"
    lines = [f"capacity of {cluster['name']} ({nodes}) under {workload['name']}"]
    lines += [f"SLA: {'; '.join(_promises(result['sla']))}"]
    lines += _rates(result)
    lines += _money(result["price"])
    if result["ended"]:
        lines.append(f"cut short: {result['ended']}; `brownout capacity --resume {where}`")
    if result["stand_in"]:
        lines.append(STAND_IN)
    return "\n".join([*lines, where])


def _promises(sla: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{p['stream']} {p['scope']} {p['percentile']} ≤ {p['limit_us'] / 1000:,.4g} ms"
        for p in sla
    ]


def _rates(result: Mapping[str, Any]) -> list[str]:
    whole, resilient, ratio = result["capacity"], result["resilient"], result["ratio"]
    lines = [f"holds it: {rate_words(whole)} ({whole['why']})"]
    if whole["odd"]:
        odd = ", ".join(f"{rate:,.0f}/s" for rate in whole["odd"])
        lines.append(f"odd: {odd} held, though {whole['above']:,.0f}/s did not")
    if result["fault"] is None:
        return lines
    fault = f"holds it through {result['fault']}"
    if resilient is None:
        return [*lines, f"{fault}: not searched for"]
    allowed = f"up to {result['allowance_s']:g} s of dips allowed"
    lines.append(f"{fault}: {rate_words(resilient)} ({resilient['why']}; {allowed})")
    if ratio is not None:
        sure = "" if ratio["bound"] == "exact" else f"{ratio['bound']} "
        lines.append(f"of the capacity that is {sure}{ratio['value']:.1%}: "
                     f"resilience costs {1 - ratio['value']:.1%} of it")  # fmt: skip
    return lines


def _money(price: Mapping[str, Any] | None) -> list[str]:
    if price is None:
        return []
    unit = price["currency"]
    lines = [f"costs {price['monthly']:,.2f} {unit} a month"]
    for name, words in (("tps_per_month", "at the SLA"), ("resilient_tps_per_month", "resilient")):
        if price[name] is not None:
            lines.append(f"{words}: {price[name]:,.4g} operations/s for each {unit} a month")
    return lines
