"""Measure, compare and write the fidelity table."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import aerospike
from tests.databases.aerospike.fidelity import answers, captured, driven, tables
from tests.databases.aerospike.fidelity.trial import Trial

from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.lab.server import STAND_IN, VARIABLE
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster

_LAB = "lab-aerospike"

Trials = dict[str, dict[str, list[Trial]]]


def main() -> None:
    """Make every trial, and print the tables or write them into a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.databases.aerospike.fidelity")
    parser.add_argument("--captures", type=Path, required=True, help="directory of the captures")
    parser.add_argument("--asd", default="", help="a real asd, to be measured on this machine too")
    parser.add_argument("--repeat", type=int, default=3, help="trials of each kind; their median")
    parser.add_argument("-o", "--output", type=Path, help="the file with the two marks")
    given = parser.parse_args()
    trials: Trials = {"captures": {w: [captured.trial(given.captures, w)] for w in captured.TRIALS}}
    for asd in filter(None, (given.asd, STAND_IN)):
        _measure(trials, asd, given.repeat)
    text = "\n\n".join((tables.faults(trials), tables.errors(trials), _answers(given.captures)))
    if given.output is None:
        print(text)
    else:
        whole = tables.inserted(given.output.read_text(encoding="utf-8"), text)
        given.output.write_text(whole, encoding="utf-8")


def _measure(trials: Trials, asd: str, repeat: int) -> None:
    for what in captured.TRIALS:
        for number in range(1, repeat + 1):
            with _lab(asd) as cluster:
                with AerospikeAdapter(cluster) as adapter:
                    where = f"{adapter.engine().split('-brownout')[0]}, here"
                print(f"{where}: {what}, {number} of {repeat}", file=sys.stderr)
                found = driven.trial(cluster, what, where)
                trials.setdefault(where, {}).setdefault(what, []).append(found)


def _answers(captures: Path) -> str:
    wanted = captured.answers(captures)
    with _lab(STAND_IN, edition="community") as cluster:
        _use(cluster)
        found = answers.asked(cluster.nodes[0], list(wanted))
    return tables.answers(answers.compare(wanted, found))


def _use(cluster: Cluster) -> None:
    """Read and write, and wait until the nodes tell of it: they sum up every ten seconds."""
    host, _, port = cluster.nodes[0].address.rpartition(":")
    client = aerospike.client({"hosts": [(host, int(port))]}).connect()
    for number in range(100):
        for name in ("py", "s"):
            client.put(("test", name, number), {"n": number})
            client.get(("test", name, number))
    client.close()
    while "write:msec" not in answers.asked(cluster.nodes[0], ["latencies:"])["latencies:"]:
        time.sleep(0.5)


@contextmanager
def _lab(asd: str, edition: str = "enterprise") -> Iterator[Cluster]:
    """Bring a lab of its own up, with that server, and take it down."""
    declared = inventory.declared(_LAB)
    assert declared.lab is not None
    spec = declared.lab.model_copy(update={"edition": edition})
    with TemporaryDirectory() as directory:
        os.environ[VARIABLE], os.environ["BROWNOUT_LAB_DIR"] = asd, directory
        try:
            yield lab.up(declared.model_copy(update={"lab": spec}))
        finally:
            lab.down(_LAB)


if __name__ == "__main__":
    main()
