"""The Chaos Toolkit control: opens the run, keeps the trail, ends it, and sets the verdict.

Declared once, at the top of an experiment:

    "controls": [{"name": "brownout", "provider": {"type": "python", "module": "brownout.control"}}]

Chaos Toolkit swallows every exception of a control but `InterruptExecution`, and leaves `chaos
run` at exit 0 after a failed action or an unmet baseline. So whatever goes wrong here interrupts,
and the journal is `failed` before the verdict is computed: only a computed pass upgrades it.

It also speaks of the end, and of "a weakness", before it asks its controls. Those words are kept
back until the verdict is known, and then said only where they agree with it.
"""

import logging
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import click
from chaoslib import merge_vars
from chaoslib.exceptions import InterruptExecution
from chaoslib.types import Activity, Configuration, Control, Experiment, Journal, Run, Secrets

from brownout.base.errors import BrownoutError
from brownout.base.redact import redact
from brownout.base.secret import offer_secrets, offered_secrets
from brownout.runs.history.record import record_quietly
from brownout.runs.store.delivery import deliver
from brownout.session.current import current, is_open, set_current
from brownout.session.hypothesis import unmet_probes
from brownout.session.interruption import cause_of
from brownout.session.options import SETTINGS
from brownout.session.plan import make_plan
from brownout.session.preview import preview
from brownout.session.session import Session
from brownout.show.console import without_colours

__all__ = [
    "after_activity_control",
    "after_experiment_control",
    "after_hypothesis_control",
    "after_method_control",
    "before_activity_control",
    "before_experiment_control",
    "before_method_control",
    "before_rollback_control",
    "cleanup_control",
    "validate_control",
]

logger = logging.getLogger("chaostoolkit")

#: What kept this experiment from its beginning, until the journal says so.
_refusals: list[BrownoutError] = []


def validate_control(control: Control) -> None:
    """Chaos Toolkit validates the experiment: from here on its log is plain but on a terminal."""
    without_colours(logger)
    logger.addFilter(_WITHOUT_SECRETS)


def before_experiment_control(
    context: Experiment, configuration: Configuration = None, secrets: Secrets = None, **_: Any
) -> None:
    """Plan, check, start the load and wait for the baseline; any failure ends the experiment."""
    try:
        offer_secrets(secrets)
        logger.addFilter(_WITHOUT_SECRETS)
        values = configuration if configuration is not None else {}
        plan = make_plan(context, values, _given_variables())
        values.update(plan.variables)  # what Chaos Toolkit pauses by and hands to activities
        if context.get("dry"):
            print(preview(plan, context)[0])
            return
        session = Session(plan, record_quietly, deliver)
        set_current(session)
        logger.addFilter(_LAST_WORDS)
        session.open()
    except (InterruptExecution, KeyboardInterrupt, SystemExit):
        _note_cause()
        raise
    except BrownoutError as error:
        _refusals.append(error)
        if is_open():
            current().interruption.fail(str(error))
        _interrupt(error)
    except Exception as error:
        logger.exception("brownout failed while it opened the run")
        if is_open():
            current().interruption.fail(f"an error of brownout: {_named(error)}")
        _interrupt(error)


def before_activity_control(
    context: Activity, configuration: Configuration = None, secrets: Secrets = None, **_: Any
) -> None:
    """Wait for the activity's pause, then say that it begins.

    Stop the method instead where the run was aborted or an activity failed; an undo always runs.
    """
    if not is_open():
        return
    _end_if_it_must()
    current().pauses.before(context, configuration, secrets)
    _end_if_it_must()
    try:
        current().begin_step(context)
    except BrownoutError as error:
        current().interruption.fail(f"action `{context.get('name')}`: {error}")
        current().interruption.deafen()
        _interrupt(error)


def _end_if_it_must() -> None:
    if current().interruption.must_stop():
        current().interruption.deafen()
        raise InterruptExecution(current().interruption.reason)


def after_activity_control(context: Activity, state: Run = None, **_: Any) -> None:
    """Note how the activity ended, then wait for its pause, unless the run has to stop."""
    _note_cause()
    if not is_open():
        return
    run = state or {}
    failed, why = _has_failed(context, run), _why(run)
    if failed:  # first: Chaos Toolkit would swallow an error of ours in what follows
        _note_failure(context, why)
    current().end_step(context, (why or "the step failed") if failed else None)
    current().pauses.after(context, state)


def _note_failure(context: Activity, why: str) -> None:
    """Note an action of the method that failed, ours or not: what follows would not be a test."""
    if _TOLD in why:  # chaostoolkit-lib 1.44 takes it for a failure of the activity
        current().interruption.abort(why.partition(_TOLD)[2])
    elif context.get("type") == "action":
        reason = f"action `{context.get('name')}` failed"
        current().interruption.fail(f"{reason}: {why}" if why else reason)


def after_hypothesis_control(**_: Any) -> None:
    """Note what ended the hypothesis, if anything did."""
    _note_cause()


def before_method_control(context: Experiment, **_: Any) -> None:
    """Mark where the method begins."""
    if is_open():
        current().begin_method()


def after_method_control(context: Experiment, **_: Any) -> None:
    """Mark where the method ends, and note what ended it."""
    _note_cause()
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
    refused = _refusals.pop() if _refusals else None
    deviated = bool(journal.get("deviated"))
    passed_hypothesis = journal.get("status") == "completed" and not deviated
    interrupted = journal.get("status") in ("interrupted", "aborted")
    unmet = unmet_probes(journal)
    if not interrupted:
        journal["status"] = "failed"
    _redact(journal)
    if not is_open():
        if refused is not None:
            journal["brownout"] = {
                "verdict": "not run",
                "reasons": [str(refused)],
                **_code(refused),
            }
        return
    session = current()
    if interrupted and not session.interruption.reason:
        session.interruption.fail("Chaos Toolkit stopped the experiment; its log says why")
    journal["deviated"] = False
    word = "not judged"

    def settle(verdict: str) -> None:
        nonlocal word
        word = verdict
        if not interrupted:
            passed = verdict == "pass" and passed_hypothesis
            journal["status"] = "completed" if passed else "failed"
        journal["deviated"] = verdict == "fail" or (verdict == "pass" and deviated)

    try:
        verdict = session.close(journal, unmet, settle)
        settle(verdict["verdict"])
        journal["brownout"] = verdict | _code(refused)
        if verdict.get("not_stored") and not interrupted:
            journal["status"] = "failed"
    except BrownoutError as error:
        settle("not judged")
        logger.error(f"brownout could not judge the run: {error}")
    except Exception:
        settle("not judged")
        logger.exception("brownout could not judge the run")
    finally:
        set_current(None)
        _say_last_words(journal, word)


def _code(refused: BrownoutError | None) -> dict[str, int]:
    """Return the exit code of what kept the experiment from its beginning, for `brownout run`."""
    return {} if refused is None else {"exit_code": int(refused.exit_code)}


#: What the main thread is told to end with, as chaostoolkit-lib 1.44 words it for an activity.
_TOLD = "InterruptExecution: "


class _LastWords(logging.Filter):
    """Keeps back what Chaos Toolkit says of the end before the run is judged."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Drop the two lines that end a run, and that an unmet probe fails the experiment."""
        words = record.getMessage()
        if words.startswith(("Experiment ended with status:", "The steady-state has deviated")):
            return False
        if words.endswith(" so failing this experiment"):
            record.msg, record.args = words.removesuffix(" so failing this experiment"), ()
        return True


_LAST_WORDS = _LastWords()


class _WithoutSecrets(logging.Filter):
    """Takes secrets out of what is logged, as an address with a password that did not answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask them in the message, and in the traceback where there is one."""
        secrets = offered_secrets()
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # its arguments do not fit; the handler would say so
            message = f"{record.msg} {record.args}"
        record.msg, record.args = redact(message, secrets), ()
        if record.exc_info:
            text = "".join(traceback.format_exception(*record.exc_info))
            record.exc_text = redact(text.rstrip("\n"), secrets)
        return True


_WITHOUT_SECRETS = _WithoutSecrets()


def _say_last_words(journal: Mapping[str, Any], word: str) -> None:
    """Say what Chaos Toolkit says of the end, now that the run is judged."""
    logger.removeFilter(_LAST_WORDS)
    status = "deviated" if journal["deviated"] else journal["status"]
    logger.info(f"Experiment ended with status: {status} (brownout: {word})")
    if journal["deviated"]:
        logger.info("The steady-state has deviated, a weakness may have been discovered")


def _note_cause() -> None:
    """Note what ends the run at this moment: a person, a signal, or an error."""
    ending = sys.exc_info()[1]
    if ending is None or not is_open() or current().interruption.reason:
        return
    if isinstance(ending, InterruptExecution | KeyboardInterrupt | SystemExit):
        current().interruption.abort(cause_of(ending))
    else:
        current().interruption.fail(f"Chaos Toolkit stopped for an error: {_named(ending)}")


def _named(error: BaseException) -> str:
    return str(redact(f"{type(error).__name__}: {error}", offered_secrets()))


def _why(run: Run) -> str:
    """Return in one line why an activity failed; nothing where it does not say."""
    lines = "".join(run.get("exception") or ()).strip().splitlines()
    why = lines[-1].partition("ActivityFailed: ")[2] if lines else ""
    return str(redact(why, offered_secrets()))


def cleanup_control() -> None:
    """Put everything back where an exception kept Chaos Toolkit from ending the experiment."""
    if is_open():
        after_experiment_control({}, state={"status": "interrupted"})


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
    """The variables given to the `chaos run` this is part of, if it is.

    Of a `--var-file`, which may serve many experiments, only our settings count.
    """
    context = click.get_current_context(silent=True)
    given: Mapping[str, Any] = (context.params.get("var") if context else None) or {}
    of_files, _ = merge_vars({}, (context.params.get("var_file") if context else None) or [])
    return {**{name: of_files[name] for name in of_files if name in SETTINGS}, **given}


#: The parts of a journal that hold what an experiment says, and what its activities answered.
_OF_OTHERS = ("experiment", "steady_states", "run", "rollbacks")


def _redact(journal: dict[str, Any]) -> None:
    """Take secrets out of the journal.

    Dynamic configuration copies them into the experiment, Chaos Toolkit's message for an action
    that failed has the arguments as they were given, and a process may print them.
    """
    of_others = {key: journal[key] for key in _OF_OTHERS if key in journal}
    journal.update(redact(of_others, offered_secrets()))
