"""What an experiment's configuration block says about a run, checked and typed."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brownout.base import usual
from brownout.base.errors import ConfigurationError
from brownout.session.stopping import Condition, parse_conditions
from brownout.session.variables import ABOVE_ZERO, SECONDS, TRUTH, WHOLE, convert

__all__ = ["KEYS", "KINDS", "Options", "read_options"]

#: Every configuration key that the control reads, with its default.
KEYS: dict[str, Any] = {
    "cluster": usual.CLUSTER,
    "workload": "",
    "load": "",
    "target": "primary",
    "seed": 0,
    "limits": "",
    "confirm": "",
    "abort_if": [],
    "baseline_s": 0.0,
    "milestone_limit_s": 300.0,
    "warmup_max_s": 120.0,
    "sham": False,
    "phase_s": 0.0,
    "canary": "",
}
#: What those of them that are no text have to be.
KINDS = {
    "seed": WHOLE,
    "baseline_s": SECONDS,
    "milestone_limit_s": ABOVE_ZERO,
    "warmup_max_s": ABOVE_ZERO,
    "sham": TRUTH,
    "phase_s": SECONDS,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How one run is to be made.

    `baseline_s` of 0 takes the measures' own; a shorter baseline is quicker and noisier.
    `load` changes single settings of the workload (`streams.0.rate=400`); `limits` holds the
    limits given by variable or in the experiment, and `limits_from_variable` says which.
    `canary` says which canary goes beside the load, as `load.canary` reads it.
    With `sham` a control window without a fault comes after the baseline; then the method waits
    `phase_s` seconds more.
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
    phase_s: float
    canary: Any
    experiment_limits: Mapping[str, float] = field(default_factory=dict)
    variable_limits: Mapping[str, float] = field(default_factory=dict)


def read_options(
    declared: Mapping[str, Any], resolved: Mapping[str, Any], problems: list[str]
) -> Options:
    """Type the `resolved` configuration of an experiment whose block as written is `declared`.

    A `seed` of 0 draws one, which the run records.
    Whatever is wrong is appended to `problems`, one sentence each.
    """
    values = {key: resolved.get(key, default) for key, default in KEYS.items()}
    written = _limits("limits", declared.get("limits", ""), problems)
    given = written
    if values["limits"] != declared.get("limits", ""):
        given = _limits("--var limits", values["limits"], problems)
    typed = {key: _typed(key, values[key], problems) for key in KINDS}
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
        phase_s=typed["phase_s"],
        canary=values["canary"],
        experiment_limits=written,
        variable_limits=given if given is not written else {},
    )


def unknown_variables(given: Mapping[str, Any], declared: Mapping[str, Any]) -> list[str]:
    """Name every `--var` that the experiment does not have: Chaos Toolkit drops them in silence."""
    known = ", ".join(sorted(declared)) or "none"
    return [
        f"--var {name}: this experiment has no such variable; wanted one of {known}"
        for name in given
        if name not in declared
    ]


def _conditions(value: Any, problems: list[str]) -> tuple[Condition, ...]:
    try:
        return tuple(parse_conditions(value))
    except ConfigurationError as error:
        problems.extend(error.problems)
        return ()


def _typed(key: str, value: Any, problems: list[str]) -> Any:
    if value in ("", None):
        return KEYS[key]
    try:
        return convert(KINDS[key], value)
    except (ValueError, OverflowError):
        problems.append(f"configuration.{key}: found {value!r}, wanted {KINDS[key]}")
        return KEYS[key]


def _limits(where: str, value: Any, problems: list[str]) -> dict[str, float]:
    """Limits from a mapping or from `measure=value,scope.measure=value`."""
    if isinstance(value, Mapping):
        pairs = [(str(name), limit) for name, limit in value.items()]
    else:
        parts = [part for part in str(value or "").split(",") if part.strip()]
        pairs = [(name.strip(), limit) for name, _, limit in (p.partition("=") for p in parts)]
    limits = {}
    for name, limit in pairs:
        try:
            limits[name] = float(limit)
        except (TypeError, ValueError, OverflowError):
            problems.append(f"{where}: {name}: found {limit!r}, wanted a number")
    return limits


def environment_limits() -> dict[str, str]:
    """The environment's variables that start with BROWNOUT_LIMIT_."""
    return {key: value for key, value in os.environ.items() if key.startswith("BROWNOUT_LIMIT_")}
