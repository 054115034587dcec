"""The rates as a table, on a terminal and in Markdown. Pure."""

from collections.abc import Sequence

from brownout.calibration.alarms.rates import DIP, ErrorRate, Rate

__all__ = ["document", "errors_markdown", "markdown"]


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


def document(
    alarms: Sequence[Rate],
    found: Sequence[Rate],
    errors: Sequence[ErrorRate],
    real: Sequence[Rate],
) -> str:
    """Return all tables, with what they are about."""
    dip = f"{100 * DIP.depth:g} % lost for {DIP.seconds:g} s"
    parts = [
        f"{alarms[0].windows} windows of each kind, none with a fault in it:",
        markdown(alarms, "windows with an alarm"),
        f"The same, each with {dip}, which was found in:",
        markdown(found, "windows with an alarm"),
        "Windows with a dip by success ratio where operations fail by themselves, by load:",
        errors_markdown(errors),
    ]
    if real:
        parts += [
            f"The real generator on the scripted server, {real[0].windows} windows of each kind, "
            "none with a fault in it:",
            markdown(real, "windows with an alarm"),
        ]
    return "\n\n".join(parts)


def _share(rate: Rate | ErrorRate) -> str:
    if rate.windows < 50:
        return f"{rate.alarms} of {rate.windows}"
    return f"{100 * rate.alarms / rate.windows:.1f} %"


def _joined(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
