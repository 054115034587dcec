"""An exploration on several machines, each of which runs its share of the schedules of a seed.

explorations/NAME/1-of-4/    the record of a share, here and, after every run, in the store
explorations/NAME/gathered/  the records of all of them as one

A share that is begun again, here or on another machine, continues with what it had.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.base.files import private_directory, replace_file
from brownout.base.redact import redact
from brownout.run.directory import EXPLORATIONS, runs_root
from brownout.runs.evidence.manifest import unsafe
from brownout.runs.explore.gather import differences, gathered
from brownout.runs.explore.record import FILE, Record, Request, new, open_record, parsed
from brownout.runs.store.delivery import deliver_files
from brownout.runs.store.objects import NotThere, Objects
from brownout.runs.store.place import VARIABLE, find

__all__ = ["INDEX", "begin", "check_name", "deliver", "gather", "share_of"]

#: The number of a pod of an Indexed Job, from 0 on.
INDEX = "JOB_COMPLETION_INDEX"
_OF_JOB = "job"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_SHARE = re.compile(r"(\d+)-of-(\d+)")


def share_of(text: str, environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the share, from 0 on, and how many there are, of `2/4`, or of `job/4` in a Job's pod.

    Raises `ConfigurationError` for anything else.
    """
    own, slash, shares = text.partition("/")
    count = int(shares) if slash and shares.isdecimal() else 0
    if own == _OF_JOB and count:
        index = environment.get(INDEX, "")
        if not (index.isdecimal() and int(index) < count):
            raise ConfigurationError(
                f"--share {text}: found {INDEX}={index!r}, wanted an index below {count}",
                "run it in an Indexed Job with as many completions, or give K/N",
            )
        if find() is None:
            raise ConfigurationError(
                f"--share {text}: {VARIABLE} is not set, so a pod's record would end with the pod",
                f"set {VARIABLE}, as to s3://bucket/prefix",
            )
        return int(index), count
    if not (count and own.isdecimal() and 1 <= int(own) <= count):
        raise ConfigurationError(
            f"--share: found {text!r}, wanted K/N with 1 ≤ K ≤ N, as 2/4, or job/N in a pod of an "
            "Indexed Job"
        )
    return int(own) - 1, count


def check_name(name: str) -> None:
    """Raise `ConfigurationError` for what cannot name an exploration."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"found the name {name!r}, wanted letters, digits, `.`, `_` and `-`, as nightly-17"
        )


def begin(name: str, request: Request, budget_s: float) -> tuple[Record, bool]:
    """Return the record of a share, and whether there was one, here or in the store.

    Raises `ConfigurationError` if that record belongs to another exploration.
    """
    path = _root(name) / f"{request.share + 1}-of-{request.shares}"
    record = _latest(path, _objects())
    if record is None:
        return new(request, budget_s, path), False
    problems = list(differences(redact(asdict(record.request)), redact(asdict(request))))
    if problems:
        raise ConfigurationError(
            [f"{path}: {problem} was asked for now" for problem in problems],
            "give another --name for another exploration",
        )
    record.budget_s = max(record.budget_s, budget_s)
    return record, True


def gather(name: str) -> Record:
    """Write the records of all shares as one, with the experiments of its findings; return it.

    Raises `ConfigurationError` if no share is found, or the shares do not belong together.
    """
    root, objects = _root(name), _objects()
    names = {path.name for path in root.glob("*-of-*")}
    if objects is not None:
        stored = objects.folders(f"{EXPLORATIONS}/{name}/")
        names |= {folder.rpartition("/")[2] for folder in stored}
    shares = sorted(filter(_SHARE.fullmatch, names), key=lambda each: int(each.partition("-")[0]))
    records = [record for each in shares if (record := _latest(root / each, objects)) is not None]
    if not records:
        places = [str(root), *([objects.place.url] if objects is not None else [])]
        raise ConfigurationError(
            f"found no share of the exploration `{name}` in {' or '.join(places)}",
            f"give the `--name` of an exploration, and set {VARIABLE} where its shares are",
        )
    whole = gathered(records, root / "gathered")
    private_directory(whole.path / "findings")
    for finding in whole.findings:
        for record in records:
            source = record.path / finding.experiment
            if finding.experiment and source.is_file():
                replace_file(whole.path / finding.experiment, source.read_bytes())
    whole.save()
    return whole


def deliver(record: Record) -> str | None:
    """Copy a record with its page and findings to the store; return why that failed, else None."""
    findings = [each.experiment for each in record.findings if each.experiment]
    names = [*findings, FILE, "explore.html", "explore.md"]
    return deliver_files(record.path, [each for each in names if (record.path / each).is_file()])


def _root(name: str) -> Path:
    check_name(name)
    return runs_root() / EXPLORATIONS / name


def _objects() -> Objects | None:
    place = find()
    return Objects(place) if place is not None else None


def _latest(path: Path, objects: Objects | None) -> Record | None:
    """Return the record of a share: that of the store where it has more runs than the one here."""
    here = open_record(path) if (path / FILE).is_file() else None
    stored = _stored(path, objects) if objects is not None else None
    if stored is None or (here is not None and len(here.tries) >= len(stored.tries)):
        return here
    private_directory(path)
    stored.save()
    return stored


def _stored(path: Path, objects: Objects) -> Record | None:
    """Return a share's record of the store, with the experiments of its findings written here."""
    place = f"{EXPLORATIONS}/{path.parent.name}/{path.name}"
    try:
        record = parsed(objects.read(f"{place}/{FILE}"), path, f"{objects.place.url}/{place}")
    except NotThere:
        return None
    for finding in record.findings:
        if not finding.experiment:
            continue
        if unsafe(finding.experiment):
            raise RunDirectoryError(
                f"{objects.place.url}/{place}: found the path {finding.experiment!r} of a finding, "
                "wanted one below the record"
            )
        private_directory((path / finding.experiment).parent)
        replace_file(path / finding.experiment, objects.read(f"{place}/{finding.experiment}"))
    return record
