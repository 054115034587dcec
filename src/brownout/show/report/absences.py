"""What is missing in a run, in sentences: a report that is silent about a gap would hide it."""

from collections.abc import Iterator

from brownout.show.report.material import Material

__all__ = ["absences"]

#: The raw files of a run by the part of a report that stands on them, and what is lost with each.
FILES = {
    "series": ("series.csv", "what was served when is not known"),
    "outcomes": ("outcomes.csv", "how operations ended by intended start is not known"),
    "errors": ("errors.csv", "why operations ended badly is not known"),
    "lanes": ("lanes.csv", "the lanes are not known"),
    "latency": ("latency.hlog", "response times are not known"),
    "events": ("events.ndjson", "what was done when is not known"),
    "generator": ("generator.json", "the load generator never said what it did"),
    "health": ("generator.csv", "how well the generator kept to its schedule is not known"),
    "journal": ("journal.json", "the steps of the experiment are not known"),
}


def absences(material: Material) -> dict[str, str]:
    """Return a sentence for each part that is not there, by part; none for a whole run."""
    gone = {
        part: f"No {name}: {meaning}."
        for part, (name, meaning) in FILES.items()
        if not (material.path / name).is_file()
    }
    return {**dict(_empty(material)), **gone, **dict(_unknown(material))}


def _empty(material: Material) -> Iterator[tuple[str, str]]:
    """Files that are there and say nothing, or not to the end."""
    if not material.series and "series" not in material.missing:
        yield "series", "The load did not run for as long as a tenth of a second."
    if material.series and not material.latency and "latency" not in material.missing:
        yield "latency", "latency.hlog holds no response times."
    if material.generator and material.generator.get("ended") is not True:
        yield (
            "generator",
            (f"The load generator died; its files end {material.end:.1f} s after the load began."),
        )


def _unknown(material: Material) -> Iterator[tuple[str, str]]:
    """What cannot be said of the faults and of the acknowledged writes."""
    if not material.impact.faults:
        yield "faults", "No fault: nothing was broken, so nothing could be measured of one."
    for number, fault in enumerate(material.impact.faults, 1):
        if fault.effective is None:
            yield (
                f"fault-{number}",
                (f"No proof that {fault.name} took effect, so none of its measures."),
            )
    ledger = material.impact.ledger
    if ledger.state in ("none", "unknown"):
        yield "ledger", f"No word on acknowledged writes: {ledger.detail}."
