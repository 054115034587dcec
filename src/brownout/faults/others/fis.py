"""Faults of AWS Fault Injection Service: an experiment, by what `GetExperiment` answers.

actions.{name}   actionId, startTime, endTime, state.status, targets {key: name}
targets.{name}   resourceType, resourceArns
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError, NoAnswer
from brownout.faults.others.account import Account, Moment, moment_of

__all__ = ["Fis", "account_of"]

#: An action that only waits.
_WAIT = "aws:fis:wait"
#: How an action ends that did not do all that it was meant to.
_CUT_SHORT = {"failed": "failed", "stopped": "was stopped", "cancelled": "was cancelled"}
_OVER = ("completed", "stopped", "failed", "cancelled", "skipped")
#: The API's times are seconds with fractions.
_RESOLUTION_S = 0.001
_TIMEOUT_S = 30.0
#: How `aws` words that no answer came, or that AWS was busy; it has tried a few times by then.
_ASK_AGAIN = re.compile(
    r"Throttl|TooManyRequests|RequestLimitExceeded|ServiceUnavailable|InternalServer|InternalFailure"
    r"|Could not connect to the endpoint|[Tt]imeout on endpoint|Connection was closed"
    r"|\((?:500|502|503|504)\)"
)
_ID = re.compile(r"[A-Za-z0-9]{1,64}")

Document = Mapping[str, Any]


class Fis:
    """One experiment of FIS, asked for by AWS's own program `aws`; one action or all may be meant.

    The program brings every way to log in; boto3 cannot be beside the client of Kubernetes.
    """

    def __init__(self, experiment: str, action: str = "", region: str = "") -> None:
        program = shutil.which("aws")
        if program is None:
            raise ConfigurationError(
                "AWS FIS is asked by the program `aws`, which is not in PATH",
                "install the AWS CLI (version 2) and log in",
            )
        if not _ID.fullmatch(experiment):
            raise ConfigurationError(
                f"experiment: found {experiment!r}, wanted the id of an experiment, as EXPa1b2c3"
            )
        self._command = [program, "fis", "get-experiment", "--id", experiment]
        self._command += ["--output", "json", "--no-cli-pager"]
        self._command += ["--region", region] if region else []
        self._action = action
        self.words = f"FIS {experiment}{f' action {action}' if action else ''}"

    def look(self) -> Account | None:
        """Return what FIS says of it; raises `ClusterError` with what the program says.

        That is `NoAnswer` where AWS is busy or out of reach.
        """
        try:
            done = subprocess.run(
                self._command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise NoAnswer(f"{self.words}: `aws` did not answer in {_TIMEOUT_S:g} s") from error
        if done.returncode:
            words = " ".join(done.stderr.split())[-300:]
            message = f"{self.words}: `aws` ended with {done.returncode}: {words}"
            if _ASK_AGAIN.search(done.stderr):
                raise NoAnswer(message, "AWS was busy, or this machine did not reach it")
            raise ClusterError(message, "the login needs the right fis:GetExperiment")
        try:
            answer = json.loads(done.stdout)
        except ValueError as error:
            raise ClusterError(f"{self.words}: `aws` printed no JSON") from error
        return account_of(answer, self._action)

    def close(self) -> None:
        """Nothing stays open."""


def account_of(answer: Document, action: str = "") -> Account:
    """Read an answer of `GetExperiment`; it has ended when each action that began is over.

    An action that failed without a target has done nothing. One with targets that failed or was
    stopped may have hit some of them: that breaks the contract of the fault.

    Raises `ConfigurationError` where it has no such action.
    """
    experiment = answer.get("experiment") or answer
    actions: Mapping[str, Document] = experiment.get("actions") or {}
    if action and action not in actions:
        raise ConfigurationError(
            f"action: found {action!r}, wanted one of {', '.join(actions) or 'none'}"
        )
    named = {
        name: each
        for name, each in actions.items()
        if (name == action if action else each.get("actionId") != _WAIT)
    }
    meant = list(named.values())
    begun = [each for each in meant if each.get("startTime") is not None]
    begun = [each for each in begun if _status(each) != "failed" or _has_targets(experiment, each)]
    is_over = all(_status(each) in _OVER for each in (meant if not _is_over(experiment) else begun))
    starts = [moment for each in begun if (moment := _moment(each, "startTime"))]
    ends = [moment for each in begun if (moment := _moment(each, "endTime"))]
    state = experiment.get("state") or {}
    reasons = [state.get("reason"), *((each.get("state") or {}).get("reason") for each in meant)]
    ended = bool(begun) and is_over and len(ends) == len(begun)
    return Account(
        state=str(state.get("status") or "unknown"),
        began=min(starts, key=lambda moment: moment.first, default=None),
        ended=max(ends, key=lambda moment: moment.last) if ended else None,
        targets=tuple(dict.fromkeys(_targets(experiment, begun))),
        complaint="; ".join(dict.fromkeys(str(reason) for reason in reasons if reason)),
        is_dead=_is_over(experiment) or (bool(meant) and all(_status(e) in _OVER for e in meant)),
        breach="; ".join(_breaches(experiment, named)),
    )


def _breaches(experiment: Document, actions: Mapping[str, Document]) -> Iterator[str]:
    """Yield which actions did not do what they were meant to, and why."""
    whole = experiment.get("state") or {}
    for name, action in actions.items():
        state, status = action.get("state") or {}, _status(action)
        reasons = [state.get("reason"), whole.get("reason") if _is_over(experiment) else None]
        why = "; ".join(dict.fromkeys(str(reason) for reason in reasons if reason))
        if status in _CUT_SHORT:
            yield f"its action {name} {_CUT_SHORT[status]}: {why or 'FIS gives no reason'}"
        elif _is_over(experiment) and status not in _OVER:
            yield f"its action {name} did not end: {why or status}"


def _has_targets(experiment: Document, action: Document) -> bool:
    """Whether it was aimed at anything: resources, or what is chosen by tags and the like."""
    targets = experiment.get("targets") or {}
    return any(targets.get(name) for name in (action.get("targets") or {}).values())


def _is_over(experiment: Document) -> bool:
    return (experiment.get("state") or {}).get("status") in _OVER


def _status(action: Document) -> str:
    return str((action.get("state") or {}).get("status"))


def _moment(action: Document, key: str) -> Moment | None:
    return moment_of(action.get(key), _RESOLUTION_S)


def _targets(experiment: Document, actions: Sequence[Document]) -> list[str]:
    """The resources that actions were aimed at, or the names of targets that resolve to none."""
    targets = experiment.get("targets") or {}
    names = [name for each in actions for name in (each.get("targets") or {}).values()]
    resources = [(targets.get(name) or {}).get("resourceArns") or [name] for name in names]
    return [str(each) for listed in resources for each in listed]
