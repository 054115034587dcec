"""`brownout doctor`: what this machine supports, and how to fix the rest."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.columns import aligned
from brownout.cli.arguments import Json, complete_cluster

if TYPE_CHECKING:
    from brownout.cli.finding import Finding

__all__ = ["doctor"]


def doctor(
    cluster: Annotated[
        str,
        typer.Option(
            help="Also check what runs on this cluster need.", autocompletion=complete_cluster
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Check what this machine supports, and say how to fix the rest.

    Exit code 1 if something is missing that every run, or every run on `--cluster`, needs.
    """
    from brownout.cli.machine import examine, examine_for

    findings = examine()
    known = {found.name for found in findings}
    findings += [f for f in (examine_for(cluster) if cluster else ()) if f.name not in known]
    if as_json:
        typer.echo(json.dumps([asdict(found) for found in findings], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(findings)))
    raise typer.Exit(1 if any(found.needed and not found.ok for found in findings) else 0)


def _lines(findings: "list[Finding]") -> list[str]:
    rows = []
    for found in findings:
        rows.append(("ok" if found.ok else "NO" if found.needed else "-", found.name, found.found))
        if not found.ok:
            rows.append(("", "", f"{found.purpose}: {found.remedy}"))
    lines = aligned(rows)
    missing = [found.name for found in findings if found.needed and not found.ok]
    lines.append("")
    lines.append(
        f"NOT READY: {', '.join(missing)}" if missing else "ready: every run that needs no more "
        "than the lines marked ok works here"
    )  # fmt: skip
    return lines
