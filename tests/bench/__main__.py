"""Run every benchmark, or those named, and print the tables or write them into a file."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench import before, begin, clients, go, histograms, long_runs, peer, protocol
from tests.bench.table import inserted, machine

PARTS: dict[str, Callable[[], str]] = {
    "generator": go.tables,
    "before": before.tables,
    "clients": clients.tables,
    "protocol": protocol.tables,
    "pymongo": peer.tables,
    "start": begin.tables,
    "runs": long_runs.tables,
    "histograms": histograms.tables,
}


def main() -> None:
    """Print or write a section of each part."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of: {', '.join(PARTS)}; by default all")
    parser.add_argument("-o", "--output", type=Path, help="the file with the two marks")
    given = parser.parse_args()
    unknown = sorted(set(given.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; wanted some of {', '.join(PARTS)}")
    sections = [machine()]
    for name in given.parts or PARTS:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        sections.append(PARTS[name]())
    text = "\n\n".join(sections)
    if given.output is None:
        print(text)
    else:
        given.output.write_text(inserted(given.output.read_text(encoding="utf-8"), text))


if __name__ == "__main__":
    main()
