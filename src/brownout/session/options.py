"""The settings that every experiment has, checked and typed.

An experiment names only the settings that it decides. The others come from `--var`, from the
environment or from their defaults. All other keys of its configuration are its own variables,
used as `${name}`.
"""

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from chaoslib.configuration import load_configuration

from brownout.base import usual
from brownout.base.errors import ConfigurationError
from brownout.judge import openslo
from brownout.judge.slo import DROPPED
from brownout.session.stop_conditions import Condition, parse_conditions
from brownout.session.variables import (
    ABOVE_ZERO,
    DAYS,
    NUMBER,
    OBJECTIVE,
    SECONDS,
    TRUTH,
    WHOLE,
    convert,
)

__all__ = ["SETTINGS", "Options", "Setting", "complete", "limits_of", "read_options"]
__all__ += ["unknown_keys"]

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MODULE = re.compile(r'"module": "([^"]+)"')
#: Keys with this prefix tell Chaos Toolkit how to reach a Vault.
_OF_CHAOS_TOOLKIT = "vault_"
#: Above the first ratio, one name may be a typing error for another; above the second it is one.
_ALIKE, _NEARLY = 0.6, 0.85


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a run, given by `--var`, by the configuration or by the environment.

    `kind` is the type of its value; it is empty for text and for settings with their own parser.
    `means` explains it in one line; docs/experiments.md says more.
    """

    name: str
    default: Any
    means: str
    kind: str = ""

    @property
    def environment(self) -> str:
        """The variable that gives it; limits have one each, `BROWNOUT_LIMIT_<MEASURE>`."""
        return "" if self.name == "limits" else f"BROWNOUT_{self.name.upper()}"


#: Every setting of a run, with its default.
SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("cluster", usual.CLUSTER, "the inventory's name or path"),
        Setting(
            "workload", "", "a workload's name or path; empty: `lab` on a lab, else `key-value`"
        ),
        Setting("load", "", "changes single settings of the workload, as `streams.app.rate=400`"),
        Setting(
            "target",
            "primary",
            "the node: `primary`, `secondary`, `random`, `spare`, `rack` or a name",
        ),
        Setting("seed", 0, "of keys, arrivals and random choices; 0 draws one", WHOLE),
        Setting(
            "limits",
            "",
            "what must hold: a mapping, or `recovery_time=10,write.blackout=3`; `errors=none` "
            "drops a limit",
        ),
        Setting("slo", "", "an OpenSLO file with limits, or one SLO of it as `FILE#NAME`"),
        Setting("confirm", "", "the cluster's own name, wanted for `environment: production`"),
        Setting("abort_if", (), "stop conditions, watched all the time; docs/safety.md"),
        Setting("baseline_s", 0, "seconds of baseline; 0 takes the measures' own", SECONDS),
        Setting("warmup_max_s", 120, "seconds to wait for a stable baseline", ABOVE_ZERO),
        Setting(
            "while_degraded",
            False,
            "breaks may begin while the cluster is not redundant; docs/safety.md",
            TRUTH,
        ),
        Setting("sham", False, "measure a control window without a fault before the fault", TRUTH),
        Setting("phase_s", 0, "seconds between the accepted baseline and the method", SECONDS),
        Setting("canary", "", "another client beside the load: true, false, or as rate=5"),
        Setting(
            "milestone_limit_s",
            0,
            "seconds to wait for a milestone; 0: 300, or longer where a limit of the run needs it",
            SECONDS,
        ),
        Setting("budget_objective", 0.9995, "the objective of the error budget", OBJECTIVE),
        Setting("budget_days", 30, "the window of the error budget in days", DAYS),
    )
}


@dataclass(frozen=True, slots=True)
class Options:
    """How one run is to be made.

    `baseline_s` of 0 takes the measures' own; a shorter baseline is quicker and noisier.
    `load` changes single settings of the workload (`streams.0.rate=400`). The limits are those of
    the experiment, of an OpenSLO file and of `--var`.
    `canary` says which canary is a stream of the load, as `load.canary` reads it.
    With `sham` a control window without a fault comes after the baseline; then the method waits
    `phase_s` seconds more. `while_degraded` lets a break begin before the cluster is redundant.
    The error budget is 1 less `budget_objective`, over `budget_days`.
    """

    cluster: str
    workload: str
    load: str
    target: str
    seed: int
    confirm: str
    abort_if: tuple[Condition, ...]
    baseline_s: float
    milestone_limit_s: float
    warmup_max_s: float
    sham: bool
    while_degraded: bool
    phase_s: float
    canary: Any
    budget_objective: float
    budget_days: float
    slo_limits: Mapping[str, float] = field(default_factory=dict)
    experiment_limits: Mapping[str, float | str] = field(default_factory=dict)
    variable_limits: Mapping[str, float | str] = field(default_factory=dict)


def read_options(
    declared: Mapping[str, Any], resolved: Mapping[str, Any], problems: list[str]
) -> Options:
    """Type the `resolved` configuration of an experiment whose block as written is `declared`.

    A `seed` of 0 draws one, which the run records.
    Whatever is wrong is appended to `problems`, one sentence each.
    """
    values = {name: resolved.get(name, setting.default) for name, setting in SETTINGS.items()}
    written = _limits("limits", declared.get("limits", ""), problems)
    given = written
    if values["limits"] != declared.get("limits", ""):
        given = _limits("--var limits", values["limits"], problems)
    typed = {
        name: _typed(setting, values[name], problems)
        for name, setting in SETTINGS.items()
        if setting.kind
    }
    objectives = _objectives(str(values["slo"] or ""), typed, problems)
    return Options(
        cluster=str(values["cluster"]),
        workload=str(values["workload"] or ""),
        load=str(values["load"] or ""),
        target=str(values["target"]),
        seed=typed["seed"] or secrets.randbelow(9_999) + 1,
        confirm=str(values["confirm"] or ""),
        abort_if=_conditions(values["abort_if"], problems),
        baseline_s=typed["baseline_s"],
        milestone_limit_s=typed["milestone_limit_s"],
        warmup_max_s=typed["warmup_max_s"],
        sham=typed["sham"],
        while_degraded=typed["while_degraded"],
        budget_objective=objectives.objective or typed["budget_objective"],
        budget_days=objectives.days or typed["budget_days"],
        slo_limits=objectives.limits,
        phase_s=typed["phase_s"],
        canary=values["canary"],
        experiment_limits=written,
        variable_limits=given if given is not written else {},
    )


def complete(
    declared: Mapping[str, Any], resolved: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the `resolved` configuration with the settings that an experiment leaves out.

    Each is what `--var` has `given`, or else the environment, or else its
    default. A setting that is `declared` is what Chaos Toolkit made of it.
    """
    values = {}
    for name, setting in SETTINGS.items():
        if name not in declared:
            value = load_configuration({name: given[name]})[name] if name in given else None
            if value is None or (value == "" and setting.kind):
                value = os.environ.get(setting.environment) or setting.default
            values[name] = value
    return {**resolved, **values}


def limits_of(where: str, text: str) -> dict[str, float | str]:
    """Return the limits in `recovery_time=10,write.blackout=3`.

    Raises `ConfigurationError` with every one that is not a number.
    """
    problems: list[str] = []
    limits = _limits(where, text, problems)
    if problems:
        raise ConfigurationError(problems)
    return limits


def unknown_keys(experiment: Mapping[str, Any]) -> Iterator[str]:
    """Name each key of the configuration that nothing reads: it may be a misspelt setting.

    A key is read if it is one of our settings, if Chaos Toolkit reads it itself, or if the
    experiment uses it as `${key}`. Other extensions receive the whole configuration, so an
    experiment that uses one is only refused a key that nearly is one of our settings.
    """
    declared = experiment.get("configuration") or {}
    text = json.dumps(experiment, default=str)
    used = set(_VARIABLE.findall(text))
    shared = any(not module.startswith("brownout.") for module in _MODULE.findall(text))
    for name in map(str, declared):
        if name in SETTINGS or name in used or name.startswith(_OF_CHAOS_TOOLKIT):
            continue
        alike = get_close_matches(name, SETTINGS, 1, _NEARLY if shared else _ALIKE)
        if alike or not shared:
            meant = f"did you mean `{alike[0]}`? " if alike else ""
            yield (
                f"configuration.{name}: not a setting, and nothing uses ${{{name}}}; {meant}"
                f"the settings are {', '.join(SETTINGS)}"
            )


def unknown_variables(given: Mapping[str, Any], declared: Mapping[str, Any]) -> list[str]:
    """Name every `--var` that the experiment does not have: Chaos Toolkit drops them in silence."""
    names = sorted({*declared, *SETTINGS})
    return [
        f"--var {name}: this experiment has no such variable; wanted one of {', '.join(names)}"
        for name in given
        if name not in names
    ]


def _objectives(where: str, typed: Mapping[str, Any], problems: list[str]) -> openslo.Objectives:
    """Read the OpenSLO file; an error budget that is set beside it has to be the same."""
    if not where:
        return openslo.Objectives()
    try:
        objectives = openslo.read(where)
    except ConfigurationError as error:
        problems.extend(error.problems)
        return openslo.Objectives()
    for name, asked in (
        ("budget_objective", objectives.objective), ("budget_days", objectives.days)
    ):  # fmt: skip
        if asked is not None and typed[name] not in (SETTINGS[name].default, asked):
            problems.append(
                f"configuration.{name}: found {typed[name]:g}, but {where} has {asked:g}; set one"
            )
    return objectives


def _conditions(value: Any, problems: list[str]) -> tuple[Condition, ...]:
    try:
        return tuple(parse_conditions(value))
    except ConfigurationError as error:
        problems.extend(error.problems)
        return ()


def _typed(setting: Setting, value: Any, problems: list[str]) -> Any:
    if value in ("", None):
        return setting.default
    try:
        return convert(setting.kind, value)
    except (ValueError, OverflowError):
        problems.append(f"configuration.{setting.name}: found {value!r}, wanted {setting.kind}")
        return setting.default


def _limits(where: str, value: Any, problems: list[str]) -> dict[str, float | str]:
    """Limits from a mapping or from `measure=value,scope.measure=value`."""
    if isinstance(value, Mapping):
        pairs = [(str(name), limit) for name, limit in value.items()]
    else:
        parts = [part for part in str(value or "").split(",") if part.strip()]
        pairs = [(name.strip(), limit) for name, _, limit in (p.partition("=") for p in parts)]
    limits: dict[str, float | str] = {}
    for name, limit in pairs:
        try:
            dropped = isinstance(limit, str) and limit.strip().lower() == DROPPED
            limits[name] = DROPPED if dropped else float(convert(NUMBER, limit))
        except (TypeError, ValueError, OverflowError):
            problems.append(f"{where}: {name}: found {limit!r}, wanted a number or `{DROPPED}`")
    return limits


def environment_limits() -> dict[str, str]:
    """The environment's variables that start with BROWNOUT_LIMIT_."""
    return {key: value for key, value in os.environ.items() if key.startswith("BROWNOUT_LIMIT_")}
