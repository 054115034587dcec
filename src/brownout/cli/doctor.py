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
    names = {each.name for each in findings}
    findings += [f for f in (examine_for(cluster) if cluster else ()) if f.name not in names]
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in findings], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(findings)))
    raise typer.Exit(1 if any(each.needed and not each.ok for each in findings) else 0)


def _lines(findings: "list[Finding]") -> list[str]:
    rows = []
    for each in findings:
        rows.append(("ok" if each.ok else "NO" if each.needed else "-", each.name, each.found))
        if not each.ok:
            rows.append(("", "", f"{each.purpose}: {each.remedy}"))
    lines = aligned(rows)
    missing = [each.name for each in findings if each.needed and not each.ok]
    lines.append("")
    lines.append(
        f"NOT READY: {', '.join(missing)}" if missing else "ready: every run that needs no more "
        "than the lines marked ok works here"
    )  # fmt: skip
    return lines
