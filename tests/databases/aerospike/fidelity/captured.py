"""Reading the captures of a real five-node cluster of version 8.1.2."""

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from tests.databases.aerospike.fidelity.trial import Bucket, Poll, Trial

__all__ = ["TRIALS", "answers", "trial"]

#: The captures with reads and writes driven apart, by what was done.
TRIALS = {
    "kill-wipe": "split-kill-wipe-n3",
    "kill": "split-kill-nowipe-n3",
    "pause": "split-stop0.8s-n3",
}
_VICTIM = "3020"
#: Longer answers of the list of commands were cut off when they were captured.
_CUT = 400
#: From the captured servers' own logs, which were not kept; as noted in the design.
_LOGGED = {"expired": 1.43, "key": 1.92, "rebalanced": 1.94}


def trial(directory: Path, what: str) -> Trial:
    """Return the capture of one kind of fault."""
    name = TRIALS[what]
    summary = (directory / f"{name}.summary.txt").read_text(encoding="utf-8")
    t0 = float(_found(r"t_kill ([\d.]+)", summary))
    restarted = re.search(r"restart at \+([\d.]+)", summary)
    return Trial(
        where="captures",
        victim=_VICTIM,
        buckets=tuple(_buckets(directory / f"{name}.csv")),
        polls=tuple(_polls(directory / f"{name}.poll.csv.gz", t0)),
        restarted=float(restarted[1]) if restarted else None,
        lost=int(_found(r"lost-acked (\d+)", summary)),
        logged={} if what == "pause" else _LOGGED,
    )


def answers(directory: Path) -> dict[str, str]:
    """Return the first node's answer to each command that was captured while all was well."""
    found = {}
    with gzip.open(directory / "healthy-5nodes.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            asked = re.match(r"### .* node=3000 cmd=(.*)\n", line)
            if asked:
                found[asked[1]] = next(lines).rstrip("\n").partition("\t")[2]
    text = (directory / "info-commands-node1.txt").read_text(encoding="utf-8")
    for command, answer in re.findall(r"^(.+?) => \[\1\t(.*)\]$", text, re.MULTILINE):
        if len(answer) < _CUT:
            found.setdefault(command, answer)
    return found


def _buckets(path: Path) -> Iterator[Bucket]:
    with path.open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            errors = {name[2:]: int(n) for name, n in row.items() if name[:2] == "e_" and n != "0"}
            yield Bucket(
                float(row["t_rel"]),
                int(row["ok_read"]),
                int(row["ok_write"]),
                errors,
                float(row["max_us"] or 0) / 1000,
            )


def _polls(path: Path, t0: float) -> Iterator[Poll]:
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            t, node = float(row["t"]) - t0, row["node"]
            if row["alive"] != "1":
                yield Poll(t, node)
                continue
            yield Poll(
                t,
                node,
                row["stable5"],
                row["stable_ign"],
                row["cluster_key"],
                int(row["migrate_partitions_remaining"]),
            )


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"no {pattern!r} in a summary of the captures")
    return match[1]
