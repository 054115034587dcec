"""`--set NAME=VALUE`, which means the same in every command.

NAME is a variable of the experiment or a setting of the workload, the first if both have it. A
setting of the workload is a path into its file, as `streams.orders.rate`.
"""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError

__all__ = ["Settings", "changes", "divided", "variables"]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A variable of the experiment, or a setting of the workload: `downtime_s=5`, "
        "`streams.orders.rate=20`. Repeatable.",
    ),
]


def variables(experiment: Path, given: Sequence[str] | None, cluster: str = "") -> list[str]:
    """Return what was `given` for an experiment's file as `chaos run --var` takes it.

    All settings of the workload become its variable `load`; `cluster`, if any, is what the option
    `--cluster` named. Raises `ConfigurationError` with
    everything that is not NAME=VALUE, and with every name that neither of both has.
    """
    own, load = divided(experiment, given)
    there = [each.partition("=")[2] for each in own if _name(each) == "load"]
    own = [each for each in own if _name(each) != "load"]
    own += [f"cluster={cluster}"] if cluster else []
    return [*own, *([f"load={','.join([*there, *load])}"] if there or load else [])]


def changes(given: Sequence[str] | None) -> str:
    """Return what was `given` for a workload alone as one text of changes.

    Raises `ConfigurationError` with everything that is not NAME=VALUE; which settings there are
    says the workload.
    """
    _check_form(given or ())
    return ",".join(given or ())


def divided(experiment: Path | None, given: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return which of the `given` are variables of the experiment, and which the workload's.

    Raises `ConfigurationError` as `variables` does; without an experiment there are no variables.
    """
    if not given:
        return [], []
    from brownout.load.workload import Workload

    _check_form(given)
    names = _variables(experiment) if experiment is not None else ()
    own: list[str] = []
    load: list[str] = []
    problems = []
    for each in given:
        name = _name(each)
        if name in names:
            own.append(each)
        elif name.partition(".")[0] in Workload.model_fields:
            load.append(each)
        else:
            problems.append(_unknown(name, experiment, names, Workload.model_fields))
    if problems:
        hint = "" if experiment else "variables are for the experiment that --with-fault names"
        raise ConfigurationError(problems, hint)
    return own, load


def _check_form(given: Sequence[str]) -> None:
    wrong = [each for each in given if "=" not in each or not _name(each)]
    if wrong:
        raise ConfigurationError([f"--set: found {each!r}, wanted NAME=VALUE" for each in wrong])


def _name(given: str) -> str:
    """Return the name in NAME=VALUE, or in NAME:TYPE=VALUE."""
    return given.partition("=")[0].partition(":")[0].strip()


def _variables(experiment: Path) -> Collection[str]:
    """Return the names of an experiment's variables, also of those that it leaves out."""
    from brownout.session.experiment_checks import read_experiment
    from brownout.session.options import SETTINGS

    declared = read_experiment(experiment).get("configuration")
    return dict.fromkeys([*(declared if isinstance(declared, Mapping) else {}), *SETTINGS])


def _unknown(
    name: str, experiment: Path | None, names: Collection[str], fields: Collection[str]
) -> str:
    alike = get_close_matches(name, [*names, *fields], 1)
    meant = f"did you mean `{alike[0]}`? " if alike else ""
    own = f"a variable of {experiment.stem} ({', '.join(names)}) or " if experiment else ""
    return f"--set {name}: {meant}wanted {own}a setting of the workload ({', '.join(fields)})"
