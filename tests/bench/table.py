"""Markdown tables, the place that they are written to, and the machine that they were made on."""

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a section: a title, and a table whose first column is text and the rest numbers."""
    rule = ["---", *["--:" for _ in head[1:]]]
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)]
    return f"## {title}\n\n" + "\n".join(lines)


def inserted(text: str, tables: str) -> str:
    """Return `text` with `tables` between its two marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the file has no `{BEGIN}` and `{END}`")
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def machine() -> str:
    """Return a sentence about this machine and how busy it is."""
    cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    named = [line.partition(":")[2].strip() for line in cpus if line.startswith("model name")]
    processor = named[0] if named else "unknown processor"
    return (
        f"{datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores ({processor}), Linux "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}, load average at "
        f"the start {os.getloadavg()[0]:.1f}."
    )
