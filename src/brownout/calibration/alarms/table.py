"""The rates as a table, on a terminal and in Markdown. Pure."""

from collections.abc import Sequence

from brownout.calibration.alarms.baselines import Refusals
from brownout.calibration.alarms.rates import DIP, ErrorRate, Rate

__all__ = ["baselines_markdown", "document", "errors_markdown", "markdown"]


def markdown(rates: Sequence[Rate], what: str) -> str:
    """Return a row a detector and a column a noise."""
    noises = list(dict.fromkeys(rate.noise for rate in rates))
    by_place = {(rate.detector, rate.noise): rate for rate in rates}
    head = [what, *(f"noise {100 * noise:.2g} %" for noise in noises)]
    lines = [head, ["---", *["--:"] * len(noises)]]
    for detector in dict.fromkeys(rate.detector for rate in rates):
        lines.append([detector, *(_share(by_place[detector, noise]) for noise in noises)])
    return _joined(lines)


def errors_markdown(rates: Sequence[ErrorRate]) -> str:
    """Return a row a share of operations that fail by themselves, a column a load."""
    loads = list(dict.fromkeys(rate.rate for rate in rates))
    by_place = {(rate.errors, rate.rate): rate for rate in rates}
    lines = [["operations that fail by themselves", *(f"{load:,.0f}/s" for load in loads)]]
    lines.append(["--:"] * (1 + len(loads)))
    for errors in dict.fromkeys(rate.errors for rate in rates):
        cells = (_share(by_place[errors, load]) for load in loads)
        lines.append([f"{100 * errors:g} %", *cells])
    return _joined(lines)


def baselines_markdown(refusals: Sequence[Refusals]) -> str:
    """Return a row a kind of noise, a column a steady or a drifting baseline."""
    kinds = list(dict.fromkeys((each.variation, each.drift) for each in refusals))
    by_place = {(each.alike, each.variation, each.drift): each for each in refusals}
    lines = [["neighbours alike by", *(_kind(*kind) for kind in kinds)]]
    lines.append(["--:"] * (1 + len(kinds)))
    for alike in dict.fromkeys(each.alike for each in refusals):
        cells = [by_place[alike, *kind] for kind in kinds]
        lines.append([f"{alike:g}", *(_refused(each) for each in cells)])
    return _joined(lines)


def _kind(variation: float, drift: float) -> str:
    if drift:
        return f"drifts by {100 * drift:.2g} %, T varies by {100 * variation:.2g} %"
    return f"steady, T varies by {100 * variation:.2g} %"


def _refused(each: Refusals) -> str:
    return _share_of(each.refused["any"], each.windows)


def document(
    alarms: Sequence[Rate],
    dip_rates: Sequence[Rate],
    errors: Sequence[ErrorRate],
    real: Sequence[Rate],
    baselines: Sequence[Refusals],
) -> str:
    """Return all tables, with what they are about."""
    dip = f"{100 * DIP.depth:g} % lost for {DIP.seconds:g} s"
    parts = [
        f"{alarms[0].windows} windows of each kind, none with a fault in it:",
        markdown(alarms, "windows with an alarm"),
        f"The same, each with {dip}, which was found in:",
        markdown(dip_rates, "windows with an alarm"),
        "Windows with a dip by success ratio where operations fail by themselves, by load:",
        errors_markdown(errors),
    ]
    for length in dict.fromkeys(each.seconds for each in baselines):
        these = [each for each in baselines if each.seconds == length]
        parts += [
            f"Of {these[0].windows} baselines of {length:g} s of each kind, `drift`, `halves` or "
            "`variation` refused:",
            baselines_markdown(these),
        ]
    if real:
        parts += [
            f"The real generator on the scripted server, {real[0].windows} windows of each kind, "
            "none with a fault in it:",
            markdown(real, "windows with an alarm"),
        ]
    return "\n\n".join(parts)


def _share(rate: Rate | ErrorRate) -> str:
    return _share_of(rate.alarms, rate.windows)


def _share_of(alarms: int, windows: int) -> str:
    if windows < 50:
        return f"{alarms} of {windows}"
    return f"{100 * alarms / windows:.1f} %"


def _joined(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
