"""`brownout capacity`: the highest rate that holds an SLA, whole and with a node gone."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base import usual
from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Cluster, Json, complete_experiment, complete_workload
from brownout.cli.durations import duration_option, seconds
from brownout.cli.settings import Settings, divided

if TYPE_CHECKING:
    from brownout.runs.capacity.session import Wanted

__all__ = ["capacity"]

Promises = Annotated[
    list[str] | None,
    typer.Option("--sla", help="STREAM.read.p99.9=20ms: a promise to hold, over the workload's."),
]
Fault = Annotated[
    str,
    typer.Option(
        help="An experiment: also find the rate that holds through its fault.",
        autocompletion=complete_experiment,
    ),
]


def capacity(
    workload: Annotated[
        str,
        typer.Argument(
            help="A workload file, or the name of a shipped one.", autocompletion=complete_workload
        ),
    ] = "",
    cluster: Cluster = usual.CLUSTER,
    sla: Promises = None,
    settings: Settings = None,
    start: Annotated[
        float, typer.Option(help="First rate in operations per second; 0: the workload's.")
    ] = 0.0,
    most: Annotated[float, typer.Option("--max", help="Never offer more; 0: no ceiling.")] = 0.0,
    factor: Annotated[float, typer.Option(help="From one step up to the next.")] = 2.0,
    precision: Annotated[float, typer.Option(help="Precision of the answer.")] = 0.02,
    step: Annotated[str, duration_option("How long each step is judged.")] = "30s",
    final: Annotated[str, duration_option("Length of the final, confirming run.")] = "10m",
    settle: Annotated[str, duration_option("Beginning of each step, not judged.")] = "5s",
    again: Annotated[
        int, typer.Option(min=0, max=9, help="Extra tries before a step counts as a breach.")
    ] = 1,
    with_fault: Fault = "",
    allowance: Annotated[
        str, duration_option("With a fault: how long each stream may be in dips.")
    ] = "10s",
    down: Annotated[str, duration_option("With a fault: how long the node is down.")] = "15s",
    seed: Annotated[int, typer.Option(min=1, help="Seed of keys, arrivals and faults.")] = 1,
    resume: Annotated[
        Path | None, typer.Option(help="Continue the interrupted search in this directory.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the highest rate at which WORKLOAD holds its SLA on a cluster.

    Raises the rate geometrically, bisects, then confirms by a long run. Every step is kept, so
    --resume continues an interrupted search. Exit code 0 if the rate is found, 1 if no rate
    holds, 2 if only a lower bound is known.
    """
    from brownout.base import catalog
    from brownout.cli.store import delivered
    from brownout.runs.capacity.session import Wanted, carry_out, read_wanted
    from brownout.runs.capacity.words import render

    if resume is not None:
        if workload:
            raise ConfigurationError(f"--resume: found `{workload}` beside it; it is known there")
        wanted, directory = read_wanted(resume), resume
    else:
        fault = catalog.find_experiment(with_fault) if with_fault else None
        variables, load = divided(fault, settings)
        wanted = Wanted(
            workload=workload, cluster=cluster, sla=tuple(sla or ()), change=",".join(load),
            start=start,
            ceiling=most, factor=factor, precision=precision, step_s=seconds(step, "--step"),
            confirm_s=seconds(final, "--final"), settle_s=seconds(settle, "--settle"),
            again=again, fault=with_fault, allowance_s=seconds(allowance, "--allowance"),
            down_s=seconds(down, "--down"), variables=tuple(variables), seed=seed,
        )  # fmt: skip
        directory = None
    _check(wanted)
    result, where, code = carry_out(wanted, directory, lambda words: typer.echo(words, err=True))
    typer.echo(json.dumps(result, indent=2) if as_json else render(result, str(where)))
    raise typer.Exit(delivered(code, where))


def _check(wanted: "Wanted") -> None:
    """Refuse numbers that mean nothing, all at once."""
    rules: dict[str, tuple[Any, bool, str]] = {
        "WORKLOAD": (wanted.workload, bool(wanted.workload), "a workload's file or name"),
        "--start": (wanted.start, 0 <= wanted.start < 1e9, "a rate, or 0 for the workload's"),
        "--max": (wanted.ceiling, 0 <= wanted.ceiling < 1e9, "a rate, or 0 for none"),
        "--factor": (wanted.factor, 1.05 <= wanted.factor <= 10, "1.05 to 10"),
        "--precision": (wanted.precision, 0.001 <= wanted.precision <= 0.5, "0.001 to 0.5"),
        "--step": (wanted.step_s, wanted.step_s >= 2, "2 s at least"),
        "--final": (wanted.confirm_s, wanted.confirm_s >= wanted.step_s, "no less than --step"),
    }
    problems = [f"{name}: found {value or 'nothing'}, wanted {words}"
                for name, (value, ok, words) in rules.items() if not ok]  # fmt: skip
    if 0 < wanted.ceiling < wanted.start:
        problems.append(f"--start: found {wanted.start:g}, above --max {wanted.ceiling:g}")
    if problems:
        raise ConfigurationError(problems)
