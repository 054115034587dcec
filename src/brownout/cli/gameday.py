"""`brownout gameday`: run, plan, stop and schedule game days, and look at what became of them."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ExitCode, Refused, RunDirectoryError
from brownout.cli.arguments import Json
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App

if TYPE_CHECKING:
    from brownout.runs.gameday.spec import GameDay

__all__ = ["app"]

app = App(
    help="Game days: several experiments on one cluster, on a schedule, within a window.",
    no_args_is_help=True,
)


@app.callback()
def _needs() -> None:
    """Say what has to be installed first, where something has."""
    from brownout.runs.gameday import check_installed

    check_installed()


def complete_gameday(incomplete: str) -> list[str]:
    """Return the shipped game days whose names begin so."""
    from brownout.base import catalog

    return [name for name in catalog.names("gamedays") if name.startswith(incomplete)]


_WHAT = "A game day's file, or the name of a shipped one."
File = Annotated[
    str, typer.Argument(help=_WHAT, metavar="GAMEDAY", autocompletion=complete_gameday)
]


@app.command()
def run(
    gameday: File,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue what its last day did not finish.")
    ] = False,
    scheduled: Annotated[
        bool, typer.Option("--scheduled", help="For schedules: also notify people of a refusal.")
    ] = False,
) -> None:
    """Run GAMEDAY: its experiments one after the other, each in its own process.

    Exit code 0 if all passed, else that of the worst; 4 if something is still broken, 64 if it
    may not begin.
    """
    from brownout.cli.store import delivered
    from brownout.runs.gameday.start import run as run_day
    from brownout.runs.gameday.summary import table

    spec = _read(gameday)
    _log_in_utc()
    try:
        day = run_day(spec, resume, _say)
    except Refused as error:
        if scheduled:
            _tell_refusal(spec, error)
        raise
    typer.echo(table(day.record))
    typer.echo(f"summary {day.summary}")
    raise typer.Exit(delivered(ExitCode.of(day.record.verdict), day.path))


@app.command()
def plan(gameday: File) -> None:
    """Print what GAMEDAY would do and when, and what stands in its way. Touches nothing.

    Exit code 64 if anything does.
    """
    from brownout.runs.gameday.outlook import plan_words

    words, ok = plan_words(_read(gameday), datetime.now(UTC))
    typer.echo(words)
    raise typer.Exit(0 if ok else ExitCode.BAD_INPUT)


@app.command()
def status(as_json: Json = False) -> None:
    """Show running game days, and dead ones that are not put back yet."""
    from dataclasses import asdict

    from brownout.runs.gameday.days import Day
    from brownout.runs.gameday.leases import Leases
    from brownout.runs.gameday.views import going_on
    from brownout.runs.gameday.watch_log import WatchLog

    with Leases() as leases:
        now = leases.now()
        rows = [(lease, lease.state(now)) for lease in leases.held()]
    entries = []
    for lease, state in rows:
        try:
            record = Day.open(Path(lease.day)).record
        except RunDirectoryError:
            record = None  # of another host
        entries.append((lease, state, record))
    if as_json:
        documents = [
            {"cluster": lease.cluster, "state": state, "day": lease.day, "host": lease.host,
             "pid": lease.pid, "record": asdict(record) if record else None}
            for lease, state, record in entries
        ]  # fmt: skip
        typer.echo(json.dumps(documents, indent=2))
        return
    for lease, state, record in entries:
        typer.echo(going_on(lease, state, record))
    if not entries:
        typer.echo("no game day is in progress")
    log = WatchLog.read()
    if log.state:
        typer.echo(f"schedules: process {log.pid}: {log.state}, last seen {log.seen}")


@app.command()
def stop(
    name: Annotated[
        str, typer.Argument(help="A cluster, a game day or its directory; default: the only one.")
    ] = "",
    reason: Annotated[str, typer.Option(help="For the record.")] = "stopped by a person",
    timeout: Annotated[str, duration_option("How long to wait until all is back.")] = "5m",
) -> None:
    """Stop a game day from any shell: everything is put back within seconds, with proof.

    Exit code 4 if something cannot be put back.
    """
    from brownout.runs.gameday import kill_switch
    from brownout.runs.gameday.leases import Leases

    limit_s = seconds(timeout, "--timeout", 1)
    with Leases() as leases:
        lease = kill_switch.chosen(leases, name)
        typer.echo(kill_switch.stop(leases, lease, reason, limit_s, _say))


@app.command()
def history(
    gameday: Annotated[
        str,
        typer.Argument(help=f"{_WHAT} With one, also how fresh each of its passes is.",
                       metavar="GAMEDAY", autocompletion=complete_gameday),
    ] = "",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show past game days; with GAMEDAY also when each of its experiments last passed.

    Exit code 1 if one of its passes is stale or missing.
    """
    from brownout.runs.gameday import views
    from brownout.runs.gameday.days import all_days
    from brownout.runs.gameday.freshness import freshness

    now = datetime.now(UTC)
    spec = _read(gameday) if gameday else None
    past = all_days(spec.name if spec else "")
    running = _running()
    fresh = freshness(spec, [day.record for day in all_days()], now) if spec else []
    if as_json:
        document = {
            "days": views.history_rows(past, running),
            "freshness": views.fresh_document(fresh),
        }
        typer.echo(json.dumps(document, indent=2))
    else:
        blocks = [views.history_words(past, running)] if past else ["no game day yet"]
        typer.echo("\n\n".join([*blocks, *([views.fresh_words(fresh, now)] if fresh else [])]))
    raise typer.Exit(ExitCode.FAIL if any(each.stale for each in fresh) else 0)


@app.command()
def serve(
    gamedays: Annotated[list[str], typer.Argument(help="Files with a `schedule`.")],
    listen: Annotated[
        str, typer.Option(help="host:port for metrics, with port 0 a free one; default: none.")
    ] = "",
) -> None:
    """Start each of GAMEDAYS when its schedule says so, until Ctrl-C or SIGTERM."""
    from brownout.runs.gameday.scheduler import Server

    _log_in_utc()
    Server([_read(each) for each in gamedays], _say, listen).serve()


def _running() -> set[str] | None:
    """Return the directories of the days in progress; say why and return None if unknown."""
    from brownout.runs.gameday.leases import Leases

    try:
        with Leases() as leases:
            clock = leases.now()
            return {each.day for each in leases.held() if each.state(clock) == "running"}
    except RunDirectoryError as error:
        typer.echo(f"which game days are in progress is unknown: {error}", err=True)
        return None


def _read(text: str) -> "GameDay":
    from brownout.runs.gameday.gameday_file import read

    return read(text)


def _tell_refusal(spec: "GameDay", error: Refused) -> None:
    from brownout.runs.gameday import messages
    from brownout.runs.gameday.notifications import Herald

    herald = Herald(spec.notify, _say)
    herald.tell(messages.not_begun(spec, str(error)))
    herald.close()


def _say(words: str) -> None:
    typer.echo(f"[{datetime.now(UTC):%F %T%z}] {words}", err=True)


def _log_in_utc() -> None:
    """Have this process and the runs that it starts write their logs in one time zone."""
    os.environ["TZ"] = "UTC"
    time.tzset()
