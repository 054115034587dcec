"""`brownout plan`, `abort` and `heal`: see before, stop during, put back after."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import BrownoutError, ExitCode, Refused
from brownout.cli.arguments import Experiment, ExperimentCluster, complete_cluster, complete_run
from brownout.cli.durations import duration_option, seconds
from brownout.cli.settings import Settings, variables

if TYPE_CHECKING:
    from brownout.faults.heal import Asked, Healed
    from brownout.faults.open_runs import Claim

__all__ = ["abort", "heal", "plan"]


def plan(
    experiment: Experiment,
    cluster: ExperimentCluster = "",
    settings: Settings = None,
) -> None:
    """Print what EXPERIMENT would do, command by command, and what stands in its way.

    Touches nothing. Exit code 64 if a guard refuses.
    """
    from brownout.base import catalog
    from brownout.session.plan_file import plan_of
    from brownout.session.preview import preview

    given = variables(catalog.find_experiment(experiment), settings, cluster)
    words, ok = preview(*plan_of(experiment, given))
    typer.echo(words)
    raise typer.Exit(0 if ok else ExitCode.BAD_INPUT)


def abort(
    run: Annotated[
        str,
        typer.Argument(
            help="A run directory or cluster; default: the only run in progress.",
            autocompletion=complete_run,
        ),
    ] = "",
    reason: Annotated[
        str, typer.Option(help="Reason, for the run's record.")
    ] = "asked for by a person",
) -> None:
    """Stop a running run: its load ends and everything is put back within seconds.

    Also ends a `brownout load`, `fill` or `capacity`.
    """
    from brownout.faults import open_runs
    from brownout.session.stop_conditions import ask_to_stop

    held = [claim for claim in open_runs.claims() if claim.is_alive() and _names(claim, run)]
    if len(held) != 1:
        if not held:
            named = f" that is named {run!r}" if run else ""
            raise Refused(f"no run is in progress{named}", "see `brownout runs list`")
        runs = ", ".join(claim.run for claim in held)
        raise Refused(f"several runs are in progress: {runs}", "name one of them")
    ask_to_stop(held[0], reason)
    after = f"; `brownout show {held[0].run}` when it has" if held[0].kind == "run" else ""
    typer.echo(f"told {held[0].run} to stop{after}")


def heal(
    cluster: Annotated[
        str,
        typer.Argument(help="Only this cluster; default: all.", autocompletion=complete_cluster),
    ] = "",
    timeout: Annotated[str, duration_option("How long to wait until it is whole.")] = "5m",
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Also put this node back (or `cluster`), though no record shows that the run "
            "broke it; repeatable.",
            metavar="NODE",
        ),
    ] = None,
    as_recorded: Annotated[
        bool,
        typer.Option(
            "--as-recorded",
            help="Act on the nodes that the run recorded, though the inventory has others now.",
        ),
    ] = False,
) -> None:
    """Put back what dead runs had broken, as they recorded it. Safe to repeat."""
    from brownout.base.scratch import remove_left
    from brownout.cli.store import complain
    from brownout.faults import open_runs
    from brownout.faults.heal import Asked
    from brownout.runs.store.delivery import deliver_left

    limit_s = seconds(timeout, "--timeout", 1)
    claims = [claim for claim in open_runs.claims() if cluster in ("", claim.cluster)]
    living = [claim for claim in claims if not cluster and claim.is_alive()]
    for claim in living:
        typer.echo(f"{claim.cluster}: {claim.run} is still in progress, so it is left alone")
    claims = [claim for claim in claims if claim not in living]
    if len(claims) > 1 and (also or as_recorded):
        listed = ", ".join(claim.cluster for claim in claims)
        raise Refused(f"several clusters are to be healed: {listed}", "name one of them")
    if not claims and not living:
        typer.echo("nothing to heal: no run has a cluster in its hands")
    asked = Asked(tuple(also or ()), as_recorded)
    healed = [_heal(claim, limit_s, asked) for claim in claims]
    if not any(claim.is_alive() for claim in open_runs.claims()):  # it may be ending without it
        remove_left()
    problems = [problem for problem in healed if problem is not None]
    deliver_left(complain)  # said where it cannot be done; the cluster is whole all the same
    if problems:
        raise typer.Exit(int(getattr(problems[0], "exit_code", ExitCode.UNDO_FAILED)))


def _heal(claim: "Claim", limit_s: float, asked: "Asked") -> Exception | None:
    """Heal one cluster and say what came of it; whatever fails, the next one is tried."""
    from brownout.faults.heal import heal as heal_claim

    try:
        done = heal_claim(claim, limit_s, _once(), asked)
    except Exception as error:
        typer.echo(f"{claim.cluster}: {_why(error, claim.cluster)}", err=True)
        return error
    typer.echo(f"{claim.cluster}: {_deeds(done)}")
    return None


def _why(error: Exception, cluster: str) -> str:
    """Say why a heal failed; what this machine refused us, as on a full disk, may be over soon."""
    if isinstance(error, BrownoutError):
        return str(error)
    return (
        f"the heal was cut short by {type(error).__name__}: {error}; `brownout heal {cluster}` "
        "again: it does nothing twice"
    )


def _deeds(done: "Healed") -> str:
    """Say what a heal did."""
    if not done.whole:
        return done.outcome
    mended = ", ".join(f"{mend} {node}" for node, mend in done.mended.items())
    return f"put back {mended}; whole" if mended else "nothing was broken any more; whole"


def _once() -> Callable[[str], None]:
    """Say each thing once, however often it is found to be so while something is awaited."""
    last = [""]

    def say(words: str) -> None:
        if words != last[-1]:
            last.append(words)
            typer.echo(words, err=True)

    return say


def _names(claim: "Claim", text: str) -> bool:
    return text in ("", claim.cluster, claim.run, Path(claim.run).name) or (
        Path(text).is_dir() and Path(text).resolve() == Path(claim.run)
    )
