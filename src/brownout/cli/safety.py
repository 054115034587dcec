"""`brownout plan`, `abort` and `heal`: see before, stop during, put back after."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.base.errors import ExitCode, Refused
from brownout.cli.arguments import Experiment, Variables, complete_cluster, complete_run

if TYPE_CHECKING:
    from brownout.faults.heal import Healed
    from brownout.faults.open_runs import Claim

__all__ = ["abort", "heal", "plan"]


def plan(
    experiment: Experiment,
    var: Variables = None,
) -> None:
    """Say what EXPERIMENT would do, command by command, and what stands against it.

    Nothing is touched. Exit code 64 where a guard says no.
    """
    from brownout.session.planning import plan_of
    from brownout.session.preview import preview

    words, ok = preview(*plan_of(experiment, var or []))
    typer.echo(words)
    raise typer.Exit(0 if ok else ExitCode.BAD_INPUT)


def abort(
    run: Annotated[
        str,
        typer.Argument(
            help="A run directory or cluster; the only one if none.", autocompletion=complete_run
        ),
    ] = "",
    reason: Annotated[str, typer.Option(help="For the run's record.")] = "asked for by a person",
) -> None:
    """Stop a run that goes on: its load ends and everything is put back within seconds.

    A load by itself (`brownout load`, `fill`, `capacity`) is ended too.
    """
    from brownout.faults import open_runs
    from brownout.session.stopping import ask_to_stop

    held = [claim for claim in open_runs.claims() if claim.is_alive() and _names(claim, run)]
    if len(held) != 1:
        found = ", ".join(claim.run for claim in held) or "none"
        raise Refused(f"runs that go on and that {run or 'this'!r} may mean: {found}",
                      "name exactly one")  # fmt: skip
    ask_to_stop(held[0], reason)
    after = f"; `brownout show {held[0].run}` when it has" if held[0].kind == "run" else ""
    typer.echo(f"told {held[0].run} to stop{after}")


def heal(
    cluster: Annotated[
        str,
        typer.Argument(
            help="One cluster only; all where none is named.", autocompletion=complete_cluster
        ),
    ] = "",
    limit_s: Annotated[float, typer.Option(min=1, help="Wait so long until it is whole.")] = 300,
) -> None:
    """Put back what runs that died had broken. Safe to repeat; does nothing where nothing is."""
    from brownout.cli.store import complain
    from brownout.faults import open_runs
    from brownout.runs.store.delivery import deliver_left

    claims = [claim for claim in open_runs.claims() if cluster in ("", claim.cluster)]
    if not claims:
        typer.echo("nothing to heal: no run has a cluster in its hands")
    problems = [problem for claim in claims if (problem := _heal(claim, limit_s)) is not None]
    deliver_left(complain)  # said where it cannot be done; the cluster is whole all the same
    if problems:
        raise typer.Exit(int(getattr(problems[0], "exit_code", ExitCode.UNDO_FAILED)))


def _heal(claim: "Claim", limit_s: float) -> Exception | None:
    """Heal one cluster and say what came of it; whatever fails, the next one is tried."""
    from brownout.faults.heal import heal as heal_claim

    try:
        done = heal_claim(claim, limit_s, _once())
    except Exception as error:
        typer.echo(f"{claim.cluster}: {error}", err=True)
        return error
    typer.echo(f"{claim.cluster}: {_deeds(done)}")
    return None


def _deeds(done: "Healed") -> str:
    """Say what a heal did."""
    if not done.whole:
        return "took down the lab that the run had brought up, with all that was broken in it"
    mended = ", ".join(f"{mend} {node}" for node, mend in done.mended.items())
    return f"put back {mended}; whole" if mended else "nothing was broken any more; whole"


def _once() -> Callable[[str], None]:
    """Say each thing once, however often it is found to be so while something is awaited."""
    said = [""]

    def say(words: str) -> None:
        if words != said[-1]:
            said.append(words)
            typer.echo(words, err=True)

    return say


def _names(claim: "Claim", text: str) -> bool:
    return text in ("", claim.cluster, claim.run, Path(claim.run).name) or (
        Path(text).is_dir() and Path(text).resolve() == Path(claim.run)
    )
