"""What Chaos Toolkit found of an experiment's hypothesis, as events of the run.

Chaos Toolkit asks the probes in their order and stops at the first one that is not met. Whatever
judges the run later (`brownout analyze`, a gate, a comparison) reads it from the events alone.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from brownout.base.redact import redact
from brownout.base.secret import offered_secrets

__all__ = ["unmet_probes"]

#: A longer answer of a probe is cut in a message; the journal has all of it.
_SHOWN = 120


def unmet_probes(journal: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of an event for each probe that was not met, by Chaos Toolkit's `journal`.

    `when` is `before`, `during` or `after` the method. `answered` is false where the probe failed,
    so that nothing is known. `by_limits` says that it asked for a limit of this run, which was
    exceeded or open then, or whether the cluster is whole: the verdict over all limits and
    milestones decides.

    What a probe said during the method counts only where Chaos Toolkit ended the experiment for it,
    as it does with `fail_fast`.
    """
    states = journal.get("steady_states") or {}
    probes = []
    for when in ("before", "during", "after"):
        if when == "during" and not _ended_for_it(journal, states):
            continue
        by_name: dict[str, list[Mapping[str, Any]]] = {}
        for probe in _unmet(states.get(when)):
            by_name.setdefault(str((probe.get("activity") or {}).get("name")), []).append(probe)
        probes += [_fields(name, when, unmet) for name, unmet in by_name.items()]
    return probes


def _ended_for_it(journal: Mapping[str, Any], states: Mapping[str, Any]) -> bool:
    after = states.get("after") or {}
    return journal.get("status") == "failed" and after.get("steady_state_met") is not False


def _unmet(states: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the probes that were not met of one state, or of each of several."""
    for state in states if isinstance(states, list) else [states]:
        for probe in (state or {}).get("probes", ()):
            if probe.get("tolerance_met") is False:
                yield probe


def _fields(name: str, when: str, unmet: list[Mapping[str, Any]]) -> dict[str, Any]:
    last = unmet[-1]
    answered = last.get("status") == "succeeded"
    return {
        "probe": name,
        "when": when,
        "times": len(unmet),
        "answered": answered,
        "by_limits": answered and _is_about_limits(last),
        "detail": _answer(last.get("output")) if answered else _why(last),
    }


def _is_about_limits(probe: Mapping[str, Any]) -> bool:
    provider, answer = probe["activity"].get("provider") or {}, probe.get("output")
    if provider.get("module") == "brownout.probes.impact":
        return isinstance(answer, Mapping) and answer.get("met", True) is not True
    asked = provider.get("module"), provider.get("func")
    return asked == ("brownout.probes.cluster", "cluster_is_whole")


def _answer(answer: Any) -> str:
    text = json.dumps(redact(answer, offered_secrets()), ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _why(probe: Mapping[str, Any]) -> str:
    lines = "".join(probe.get("exception") or ()).strip().splitlines()
    return str(redact(lines[-1], offered_secrets())) if lines else "it does not say why"
