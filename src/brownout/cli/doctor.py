"""`brownout doctor`: what this machine can do, and how to mend what it cannot."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.cli.arguments import Json, complete_cluster

if TYPE_CHECKING:
    from brownout.cli.finding import Finding

__all__ = ["doctor"]


def doctor(
    cluster: Annotated[
        str,
        typer.Option(
            help="A cluster: look at what runs on it need, too.", autocompletion=complete_cluster
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Say what this machine can do, and how to mend what it cannot.

    Exit code 1 where something that every run needs is missing, or every run on `--cluster`.
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
    width = max(len(found.name) for found in findings)
    lines = []
    for found in findings:
        sign = "ok " if found.ok else ("NO " if found.needed else "-  ")
        lines.append(f"{sign} {found.name.ljust(width)}  {found.found}")
        if not found.ok:
            lines.append(f"    {' ' * width}  {found.purpose}: {found.mend}")
    missing = [found.name for found in findings if found.needed and not found.ok]
    lines.append("")
    lines.append(
        f"NOT READY: {', '.join(missing)}" if missing else "ready: every run that needs no more "
        "than the lines marked ok works here"
    )  # fmt: skip
    return lines
