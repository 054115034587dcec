"""The records of the shares of one exploration as one record. Pure.

Each run counts once, and findings with the same shortest schedule are one finding, as they would be
if one machine had run all of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.runs.explore.record import Finding, Record, Try
from brownout.runs.explore.schedule import Schedule

__all__ = ["differences", "gathered"]

#: What may differ between shares: which one it is, and its own test cluster with its confirmation.
_OWN = frozenset({"share", "cluster"})
_OWN_SETTING = "confirm"
#: Of what may be drawn, only a reason in words.
_WORDS = "left_out"


def gathered(records: Sequence[Record], path: Path) -> Record:
    """Return one record, to be kept at `path`, of the shares' records.

    Raises `ConfigurationError` where they are not of the same exploration of the same server.
    """
    first = records[0]
    problems = [
        f"{record.path}: {problem} in {first.path}"
        for record in records[1:]
        for problem in differences(_common(record), _common(first))
    ]
    if problems:
        raise ConfigurationError(problems, "gather shares of one exploration of the same server")
    shares = {record.request.share + 1: record for record in records}
    unfinished = sorted(number for number, record in shares.items() if not record.ended)
    clusters = dict.fromkeys(record.request.cluster for record in records)
    explored = next((record for record in records if record.server), first)
    return Record(
        path,
        replace(first.request, cluster=", ".join(clusters), share=0),
        min(record.began for record in records),
        sum(record.budget_s for record in records),
        "" if unfinished else max(record.ended for record in records),
        server=explored.server,
        database=explored.database,
        space=explored.space,
        tries=_tries(records),
        findings=_findings(records),
        gathered=sorted(shares),
        unfinished=unfinished,
    )


def differences(present: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    """Yield what is found and what was wanted of each entry of two objects that differ."""
    for name in wanted:
        if name in present and present[name] != wanted[name]:
            yield f"`{name}`: found {present[name]!r}, wanted {wanted[name]!r} as"


def _common(record: Record) -> dict[str, Any]:
    """Return what all shares have in common; a share that has not begun yet has less of it."""
    request = {name: value for name, value in asdict(record.request).items() if name not in _OWN}
    settings = request.pop("settings")
    common = {**request, **{k: v for k, v in settings.items() if k != _OWN_SETTING}}
    if record.server:
        space = {name: value for name, value in record.space.items() if name != _WORDS}
        common |= {"server": record.server, **space}
    return common


def _tries(records: Sequence[Record]) -> list[Try]:
    """Return each run once, by the number of its schedule."""
    tries = {
        (each.number, each.purpose, repr(each.schedule), each.attempt): each
        for record in records
        for each in record.tries
    }
    return sorted(tries.values(), key=lambda each: each.number)


def _findings(records: Sequence[Record]) -> list[Finding]:
    """Return the findings, those with the same shortest joined.

    One that was not shrunk to the end belongs to another that its schedule contains.
    """
    every = [
        replace(each, variants=list(each.variants), seen_again=list(each.seen_again))
        for record in records
        for each in record.findings
    ]
    every.sort(key=lambda each: (not each.variants, each.number))  # what was shrunk comes first
    findings: list[Finding] = []
    for each in every:
        earlier = next((other for other in findings if _is_joined(each, other)), None)
        if earlier is None:
            findings.append(each)
        else:
            earlier.join(each)
    return sorted(findings, key=lambda each: each.number)


def _is_joined(finding: Finding, earlier: Finding) -> bool:
    if (finding.number, finding.oracle) == (earlier.number, earlier.oracle):
        return True
    if finding.variants:
        return earlier.is_same_as(finding)
    return earlier.explains(finding.oracle, Schedule.of(finding.schedule))
