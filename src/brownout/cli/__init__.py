"""The `brownout` command: one module a group of commands; this one joins them and maps errors.

Exit codes: 0 pass, 1 fail, 2 inconclusive, 3 aborted, 4 an undo failed, 64 bad input.
"""

import errno
import functools
import os
import sys
import traceback
from typing import Annotated, Any

import typer

from brownout.base.errors import BrownoutError, ExitCode
from brownout.base.printable import printable
from brownout.base.termination import as_ctrl_c
from brownout.cli import (
    book,
    calibrate,
    capacity,
    catalogue,
    client,
    clients,
    compare,
    doctor,
    evidence,
    experiment_files,
    explore,
    fill,
    gameday,
    gate,
    history,
    impact,
    inventories,
    lab,
    litmus,
    load,
    observe,
    repeat,
    run_experiment,
    runs,
    safety,
    store,
    sudoers,
    sweep,
    trend,
    watch,
)
from brownout.cli.framework import App

__all__ = ["app", "command", "main", "run"]

RUN, LOOK, DECIDE, MAKE = "Run", "Look", "Decide", "Make your own"
MACHINE = "This machine and its clusters"

app = App(
    name="brownout",
    help="Break one thing in a real database cluster under load, and measure what users feel. "
    "Run experiments with `brownout run NAME`, or with `chaos run experiments/NAME.json`.",
    epilog="Exit codes: 0 pass, 1 fail, 2 inconclusive, 3 aborted, 4 an undo failed, "
    "64 bad input. Documentation: docs/whats-here.md.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("list", rich_help_panel=RUN)(catalogue.list_)
app.command("plan", rich_help_panel=RUN)(safety.plan)
app.command("run", rich_help_panel=RUN)(run_experiment.run)
app.command("repeat", rich_help_panel=RUN)(repeat.repeat)
app.command("sweep", rich_help_panel=RUN)(sweep.sweep)
app.command("explore", rich_help_panel=RUN)(explore.explore)
app.command("gather", rich_help_panel=RUN)(explore.gather)
app.command("capacity", rich_help_panel=RUN)(capacity.capacity)
app.command("fill", rich_help_panel=RUN)(fill.fill)
app.command("load", rich_help_panel=RUN)(load.load)
app.command("watch", rich_help_panel=RUN)(watch.watch)
app.command("abort", rich_help_panel=RUN)(safety.abort)
app.command("heal", rich_help_panel=RUN)(safety.heal)
app.add_typer(gameday.app, name="gameday", rich_help_panel=RUN)
app.add_typer(book.app, name="book", rich_help_panel=RUN)
app.add_typer(clients.app, name="clients", rich_help_panel=RUN)
app.add_typer(litmus.app, name="litmus", rich_help_panel=RUN)
app.command("show", rich_help_panel=LOOK)(runs.show)
app.command("report", rich_help_panel=LOOK)(runs.report)
app.command("analyze", rich_help_panel=LOOK)(runs.analyze)
app.command("impact", rich_help_panel=LOOK)(impact.impact)
app.command("trend", rich_help_panel=LOOK)(trend.trend)
app.add_typer(runs.app, name="runs", rich_help_panel=LOOK)
app.command("bundle", rich_help_panel=LOOK)(evidence.bundle)
app.command("verify", rich_help_panel=LOOK)(evidence.verify)
app.add_typer(history.app, name="history", rich_help_panel=LOOK)
app.add_typer(store.app, name="store", rich_help_panel=LOOK)
app.command("compare", rich_help_panel=DECIDE)(compare.compare)
app.command("gate", rich_help_panel=DECIDE)(gate.gate)
app.add_typer(gate.app, name="baseline", rich_help_panel=DECIDE)
app.command("new", rich_help_panel=MAKE)(experiment_files.new)
app.add_typer(inventories.app, name="inventory", rich_help_panel=MAKE)
app.command("adopt", rich_help_panel=MAKE)(experiment_files.adopt)
app.command("check", rich_help_panel=MAKE)(experiment_files.check)
app.command("schema", rich_help_panel=MAKE)(experiment_files.schema)
app.add_typer(client.app, name="client", rich_help_panel=MAKE)
app.command("doctor", rich_help_panel=MACHINE)(doctor.doctor)
app.command("sudoers", rich_help_panel=MACHINE)(sudoers.sudoers)
app.add_typer(observe.app, name="observe", rich_help_panel=LOOK)
app.add_typer(lab.app, name="lab", rich_help_panel=MACHINE)
app.command("clean", rich_help_panel=MACHINE)(load.clean)
app.add_typer(calibrate.app, name="calibrate", rich_help_panel=MACHINE)

#: What typer makes of a Ctrl-C, as a shell would.
INTERRUPTED = 130
#: What click, or the copy of it that a later typer brings along, raises for bad usage.
_UsageError: Any = typer.BadParameter.__mro__[1]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("brownout"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Be the `brownout` command; SIGTERM and SIGHUP end it as a Ctrl-C does."""
    with as_ctrl_c():
        code = run()
    sys.exit(code)


@functools.cache
def command() -> Any:
    """Return what typer makes of `app`, which takes it some time, so once in a process."""
    return typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Run a command, by default the process's own, and return its exit code.

    An error of ours is one message on stderr. A crash of ours is inconclusive, never a fail.
    """
    try:
        code = command()(arguments, standalone_mode=False)
        sys.stdout.flush()
    except BrownoutError as error:
        typer.echo(f"brownout: {printable(str(error))}", err=True)
        return int(error.exit_code)
    except _UsageError as error:
        error.show()
        return int(ExitCode.BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except BrokenPipeError:
        # The reader, `head` perhaps, has had enough; what is still in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            typer.echo(f"brownout: {error.filename}: no file has such a long name", err=True)
            return int(ExitCode.BAD_INPUT)
        traceback.print_exc()
        return int(ExitCode.INCONCLUSIVE)
    if code == INTERRUPTED:
        return _stopped()
    return code if isinstance(code, int) else 0


def _stopped() -> int:
    typer.echo("brownout: stopped", err=True)
    return int(ExitCode.ABORTED)
