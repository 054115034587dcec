"""The Chaos Toolkit control: opens the run, keeps the trail, ends it, and sets the verdict.

Declared once, at the top of an experiment:

    "controls": [{"name": "brownout", "provider": {"type": "python", "module": "brownout.control"}}]

Chaos Toolkit swallows every exception of a control but `InterruptExecution`, and leaves `chaos
run` at exit 0 after a failed action or an unmet baseline. So whatever goes wrong here interrupts,
and the journal is `failed` before the verdict is computed: only a computed pass upgrades it.
"""

import logging
from collections.abc import Mapping
from typing import Any

import click
from chaoslib.exceptions import InterruptExecution
from chaoslib.types import Activity, Configuration, Experiment, Journal, Run, Secrets

from brownout.cluster.secret import offer_secrets
from brownout.errors import BrownoutError
from brownout.run.metadata import redact
from brownout.session.current import current, is_open, set_current
from brownout.session.plan import make_plan
from brownout.session.preview import preview
from brownout.session.session import Session

__all__ = [
    "after_activity_control",
    "after_experiment_control",
    "after_method_control",
    "before_activity_control",
    "before_experiment_control",
    "before_method_control",
    "before_rollback_control",
]

logger = logging.getLogger("chaostoolkit")


def before_experiment_control(
    context: Experiment, configuration: Configuration = None, secrets: Secrets = None, **_: Any
) -> None:
    """Plan, check, start the load and wait for the baseline; any failure ends the experiment."""
    try:
        offer_secrets(secrets)
        values = configuration if configuration is not None else {}
        plan = make_plan(context, values, _given_variables())
        values.update(plan.variables)  # what Chaos Toolkit pauses by and hands to activities
        if context.get("dry"):
            print(preview(plan, context)[0])
            return
        session = Session(plan)
        set_current(session)
        session.open()
    except BrownoutError as error:
        if is_open():
            current().interruption.fail(str(error))
        _interrupt(error)
    except Exception as error:
        logger.exception("brownout failed while it opened the run")
        _interrupt(error)


def before_activity_control(context: Activity, **_: Any) -> None:
    """Stop the method where the run was aborted or an activity failed; undoing always goes on."""
    if is_open() and current().interruption.must_stop():
        raise InterruptExecution(current().interruption.reason)


def after_activity_control(context: Activity, state: Run = None, **_: Any) -> None:
    """Note an action of the method that failed, ours or not: what follows would not be a test."""
    if is_open() and context.get("type") == "action" and _has_failed(context, state or {}):
        current().interruption.fail(f"action `{context.get('name')}` failed")


def before_method_control(context: Experiment, **_: Any) -> None:
    """Mark where the method begins."""
    if is_open():
        current().begin_method()


def after_method_control(context: Experiment, **_: Any) -> None:
    """Mark where the method ends."""
    if is_open():
        current().end_method()


def before_rollback_control(context: Experiment, **_: Any) -> None:
    """From here on activities undo: they run whatever happened before."""
    if is_open():
        current().begin_undo()


def after_experiment_control(context: Experiment, state: Journal = None, **_: Any) -> None:
    """End the load, put back what is still broken, judge, and set the journal."""
    if context.get("dry"):
        return
    journal = state if state is not None else {}
    passed_hypothesis = journal.get("status") == "completed" and not journal.get("deviated")
    interrupted = journal.get("status") in ("interrupted", "aborted")
    if not interrupted:
        journal["status"] = "failed"
    _redact(journal)
    if not is_open():
        return
    session = current()
    if interrupted and not session.interruption.reason:
        session.interruption.abort("interrupted from outside brownout, see the journal")
    try:
        verdict = session.close(journal)
        journal["brownout"] = verdict
        if verdict["verdict"] == "pass" and passed_hypothesis and not verdict.get("not_stored"):
            journal["status"] = "completed"
        if verdict["verdict"] == "fail":
            journal["deviated"] = True
    except BrownoutError as error:
        logger.error(f"brownout could not judge the run: {error}")
    except Exception:
        logger.exception("brownout could not judge the run")
    finally:
        set_current(None)


def _has_failed(activity: Activity, run: Run) -> bool:
    """Whether an action failed; a process that exits with an error has, whatever the run says."""
    if run.get("status") == "failed":
        return True
    output = run.get("output")
    is_process = activity.get("provider", {}).get("type") == "process"
    return is_process and isinstance(output, dict) and output.get("status") not in (0, None)


def _interrupt(error: Exception) -> None:
    """Log why, where people see it, and end the experiment."""
    for line in str(error).splitlines():
        logger.error(line)
    raise InterruptExecution(f"brownout: {error}") from error


def _given_variables() -> Mapping[str, Any]:
    """The `--var` options of the `chaos run` this is part of, if it is."""
    context = click.get_current_context(silent=True)
    return (context.params.get("var") if context else None) or {}


def _redact(journal: dict[str, Any]) -> None:
    """Take secrets out of the journal: dynamic configuration copies them into the experiment."""
    if "experiment" in journal:
        journal["experiment"] = redact(journal["experiment"])
