"""The percentile spectrum before, during and after the fault, as HdrHistogram users draw it."""

import numpy as np

from brownout.show.report.axes import logarithmic, percentiles
from brownout.show.report.chart import Chart, Level, Line, Row
from brownout.show.report.material import Material, PhaseSpectra, Spectrum
from brownout.show.report.values import worded

__all__ = ["spectra"]

SCOPES = {"total": "", "read": " of reads", "write": " of writes"}
ORDER = ("before", "during", "after", "all")


def spectra(material: Material) -> list[Chart]:
    """A figure for each fault; of a single one also for reads and for writes."""
    several = len({one.number for one in material.spectra}) > 1
    return [_chart(material, one, several) for one in material.spectra if one.phases]


def _chart(material: Material, spectra_of_phase: PhaseSpectra, several: bool) -> Chart:
    lines = [
        _line(name, spectra_of_phase.phases[name])
        for name in ORDER
        if name in spectra_of_phase.phases
    ]
    most = max(float(line.x.max()) for line in lines)
    values = np.concatenate([line.y[line.y > 0] for line in lines])
    deadline_ms = 1000 * (material.deadline_s or 0.0)
    levels = (Level(deadline_ms, f"deadline {deadline_ms / 1000:g} s"),) if deadline_ms else ()
    y = logarithmic(
        float(values.min(initial=1e3)), max(float(values.max(initial=1.0)), deadline_ms)
    )
    x = percentiles(most)
    around = f" around fault {spectra_of_phase.number}, {spectra_of_phase.fault}" if several else ""
    return Chart(
        key=f"spectrum-{spectra_of_phase.scope}-{spectra_of_phase.number}",
        title=f"Response time spectrum{SCOPES[spectra_of_phase.scope]}{around}",
        say=_say(spectra_of_phase),
        rows=(Row(tuple(lines), y, levels),),
        x=x,
        view=(x.low, x.high),
        kind="percentile",
    )


def _say(spectra_of_phase: PhaseSpectra) -> str:
    beyond = spectra_of_phase.phases.get("all")
    gone = ""
    if beyond is not None:
        share = worded("availability", beyond.not_ok / beyond.count)
        gone = f"{share} of {beyond.count:,} were not served in time during the fault"
    if spectra_of_phase.scope != "total":
        return f"{gone}." if gone else ""
    say = "How long the slowest 10 %, 1 %, 0.1 % … waited, from the intended start."
    if not gone:
        return say
    return f"{say} {gone}: the line of all of them ends there, and without them the others flatter."


def _line(name: str, spectrum: Spectrum) -> Line:
    words = "during, all of them" if name == "all" else f"{name} ({spectrum.count:,} served)"
    return Line(words, name, spectrum.inverse, spectrum.value_us / 1000, "line", " ms", 2)
