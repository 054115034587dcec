"""`brownout explore`: draw sequences of faults until one breaks the promise, and shorten that."""

import json
import os
import secrets
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base.errors import ConfigurationError, ExitCode, Refused
from brownout.cli.arguments import Json, Seed, complete_cluster, complete_workload
from brownout.cli.durations import duration_option, seconds
from brownout.cli.output import however_it_ends, say
from brownout.cli.settings import Settings, changes

if TYPE_CHECKING:
    from brownout.runs.explore.record import Record, Request

__all__ = ["explore", "gather"]

#: The workload of labs.
_CHECKED = "lab:checked-reads"


def explore(
    cluster: Annotated[
        str,
        typer.Argument(help="An inventory's name or path.", autocompletion=complete_cluster),
    ],
    budget: Annotated[str, duration_option("How long to explore.", "--for")] = "20m",
    seed: Seed = 0,
    n: Annotated[
        int, typer.Option("-n", "--times", min=1, help="How often a broken promise is repeated.")
    ] = 5,
    only: Annotated[str, typer.Option(help="Draw only these faults, by commas.")] = "",
    without: Annotated[str, typer.Option(help="Never draw these faults, by commas.")] = "",
    longest: Annotated[str, duration_option("How long a schedule's faults take at most.")] = "60s",
    workload: Annotated[
        str, typer.Option(help="A workload's name or path.", autocompletion=complete_workload)
    ] = "",
    settings: Settings = None,
    share: Annotated[
        str,
        typer.Option(
            help="K/N: only every Nth schedule of the seed, from the Kth on; job/N: K is that of "
            "the pod of an Indexed Job."
        ),
    ] = "1/1",
    name: Annotated[
        str,
        typer.Option(help="Name of the exploration, continued if begun; for shares: seed-SEED."),
    ] = "",
    confirm: Annotated[
        str, typer.Option(help="The cluster's own name, wanted where it is not a lab.")
    ] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the last exploration of that cluster.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Also write each finding as an experiment into this folder."
        ),
    ] = None,
    plan: Annotated[
        int,
        typer.Option(min=0, help="Only print the first so many schedules; touches nothing."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Draw sequences of faults on CLUSTER until one breaks the promise; shorten that.

    Only what cannot be noise counts: a lost acknowledged write, copies that differ, a cluster that
    never is redundant or serves again, an undo that failed. Exit code 0 if nothing broke the
    promise, 1 if something did, 2 if nothing could be judged, 4 if something is still broken.
    """
    from brownout.runs.explore import record as records
    from brownout.runs.explore import shares
    from brownout.runs.explore.conduct import conduct, put_back
    from brownout.runs.explore.page import write

    own, count = shares.share_of(share, os.environ)
    if count > 1 and not seed:
        raise ConfigurationError(
            f"--share {share}: found no --seed, wanted the one that all {count} shares have"
        )
    request = records.Request(
        cluster, seed or secrets.randbelow(999_999) + 1, n, _names(only), _names(without),
        seconds(longest, "--longest"), _settings(cluster, workload, settings), own, count,
    )  # fmt: skip
    budget_s = seconds(budget, "--for")
    if output is not None:
        _check_folder(output)
    if plan:
        typer.echo(_planned(request, plan, as_json))
        return
    confirmed = _confirmed(cluster, confirm)
    if confirmed:
        request = _with(request, {"confirm": confirmed})
    if count > 1:
        name = name or f"seed-{seed}"
    if name:
        record, is_begun = shares.begin(name, request, budget_s)
    elif resume:
        record, is_begun = _resumed(request, budget_s), True
    else:
        record, is_begun = records.new(request, budget_s), False
    say(f"explore {cluster}, seed {record.request.seed}; it is kept in {record.path}")
    if is_begun:
        say(f"continued after {len(record.tries)} runs")
        put_back(record, say)
    if record.spent_s < record.budget_s:
        record.ended = ""
        with however_it_ends(lambda: say(f"report {write(record)}") if record.tries else None):
            conduct(record, say)
    raise typer.Exit(_result(record, output, as_json))


def gather(
    name: Annotated[str, typer.Argument(help="The `--name` of an exploration.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Also write each finding as an experiment into this folder."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Join the shares of the exploration NAME to one record and one page.

    They are taken from the runs' folder and from the object store (BROWNOUT_STORE). Exit codes as
    of `brownout explore`; 2 also where nothing was found and a share is missing or not over.
    """
    from brownout.runs.explore import shares
    from brownout.runs.explore.page import gathered_from, write

    record = shares.gather(name)
    for words in gathered_from(record):
        say(words)
    say(f"report {write(record)}")
    raise typer.Exit(_result(record, output, as_json))


def _result(record: "Record", output: Path | None, as_json: bool) -> int:
    """Print the result, copy it to where it is wanted, and return the exit code."""
    from brownout.runs.explore import shares
    from brownout.runs.explore.page import headline

    if output is not None:
        _publish(record, output)
    if as_json:
        typer.echo(json.dumps(record.document(), indent=2))
    else:
        typer.echo(headline(record))
        for finding in record.findings:
            typer.echo(f"finding {finding.number}: {record.path / finding.experiment}")
    failed = shares.deliver(record)
    return _code(record) or int(ExitCode.INCONCLUSIVE if failed else ExitCode.PASS)


def _planned(request: "Request", count: int, as_json: bool) -> str:
    """Return the first schedules that would be run, and what is not drawn."""
    from brownout.runs.explore.conduct import look
    from brownout.runs.explore.draw import numbered

    space = look(request)
    drawn = numbered(space, request.seed, request.share, request.shares)
    schedules = list(islice(drawn, count))
    if as_json:
        listed = [{"number": number, "schedule": each.document()} for number, each in schedules]
        left_out = dict(space.left_out)
        data = {"seed": request.seed, "schedules": listed, "left_out": left_out}
        return json.dumps(data, indent=2)
    return "\n".join(
        [
            f"seed {request.seed}; the first {count} schedules:",
            *(f"{number:>4}  {each.words}" for number, each in schedules),
            *(f"{name} is not drawn: {why}" for name, why in space.left_out.items()),
        ]
    )


def _code(record: "Record") -> int:
    if record.findings:
        return int(ExitCode.FAIL)
    judged = any(each.is_judged for each in record.tries) and not record.is_incomplete
    return int(ExitCode.PASS if judged else ExitCode.INCONCLUSIVE)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _settings(cluster: str, workload: str, given: list[str] | None) -> dict[str, Any]:
    """Return the workload and its changes as settings of an experiment, checked.

    A lab gets one whose reads are held against what was acknowledged.
    """
    from brownout.inventory import inventory
    from brownout.load import workload as workloads

    if not workload and inventory.declared(cluster).lab is not None:
        workload = _CHECKED

    load = changes(given)
    if workload:
        workloads.load(workload, load)
    return {name: value for name, value in (("workload", workload), ("load", load)) if value}


def _confirmed(cluster: str, confirm: str) -> str:
    """Return the token for what is not a lab; raises `Refused` where it is not the name."""
    from brownout.inventory import inventory

    declared = inventory.declared(cluster)
    if declared.lab is not None:
        return ""
    if confirm != declared.name:
        actual = f"`--confirm {confirm}`" if confirm else "no confirmation"
        raise Refused(
            f"`{declared.name}` is not a lab, and its nodes would be broken at random; found "
            f"{actual}, wanted its name",
            f"give `--confirm {declared.name}` if you mean it",
        )
    return confirm


def _with(request: "Request", settings: Mapping[str, Any]) -> "Request":
    from dataclasses import replace

    return replace(request, settings={**request.settings, **settings})


def _resumed(request: "Request", budget_s: float) -> "Record":
    """Return the last exploration of this cluster with its own seed and settings."""
    from brownout.runs.explore.record import last, open_record

    where = last(request.cluster)
    if where is None:
        raise Refused(
            f"found no exploration of {request.cluster} to resume", "run it without --resume"
        )
    record = open_record(where)
    record.budget_s = max(record.budget_s, budget_s)
    if record.spent_s >= record.budget_s:
        raise Refused(
            f"the budget of {where} is spent", "give a longer `--for`, or run without --resume"
        )
    return record


def _check_folder(folder: Path) -> None:
    """Make the folder for findings before hours are spent; raises `ConfigurationError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"--output: found {folder}, wanted a folder that can be written: {error.strerror}"
        ) from error


def _publish(record: "Record", folder: Path) -> None:
    """Copy each finding's experiment into a folder, where it is a regression test from now on."""
    _check_folder(folder)
    for finding in record.findings:
        source = record.path / finding.experiment
        target = folder / source.name
        target.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        say(f"wrote {target}")
