"""What every action and probe shares: errors as Chaos Toolkit wants them, and interruptions.

The action of a registered fault is made from the fault: its name, arguments and docstring. The
probe of a measure is made from the measure.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, overload

from chaoslib.exceptions import ActivityFailed, InterruptExecution
from chaoslib.types import Configuration, Secrets

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.faults import registry
from brownout.faults.aim import RoleMoved
from brownout.faults.fault import Action, Undo
from brownout.measure.measures import find
from brownout.session.current import current, is_open
from brownout.session.interruption import cause_of
from brownout.session.variables import NUMBER, TRUTH, WHOLE, convert

__all__ = [
    "action",
    "actions_of",
    "activity",
    "acts_of",
    "fault_of",
    "function_at",
    "measure_probe",
    "steps_of",
    "told_of",
]

P = ParamSpec("P")
R = TypeVar("R")

#: What an argument of each type has to be, in the words of the message.
_KINDS = {int: WHOLE, float: NUMBER, bool: TRUTH}
#: So often a target that loses its role between its choice and its break is chosen again.
_TRIES = 2
_GIVEN_BY_CHAOS_TOOLKIT = {"configuration": Configuration, "secrets": Secrets}


@overload
def activity(function: Callable[P, R]) -> Callable[P, R]: ...
@overload
def activity(
    *, told: str = "", steps: Sequence[str] = (), acts: Sequence[str] = (), on: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def activity(
    function: Callable[P, R] | None = None,
    *,
    told: str = "",
    steps: Sequence[str] = (),
    acts: Sequence[str] = (),
    on: str = "",
) -> Any:
    """Make `function` an activity: our errors become `ActivityFailed`, an interruption is kept.

    `told` is what a plan says that it does, with `{}` for the node; or it is made of other
    activities, its `steps`, by their full names. `acts` are the faults and undos that it does,
    `on` all `targets` together, or on each of the `members` in turn.

    chaostoolkit-lib 1.44 turns the `InterruptExecution` of a SIGTERM inside an activity into a
    failed activity and continues; so it is noted here, and the control stops at the next activity.
    """
    if function is None:

        def with_words(function: Callable[P, R]) -> Callable[P, R]:
            wrapped = activity(function)
            wrapped.__dict__.update(told=told, steps=tuple(steps), acts=(tuple(acts), on))
            return wrapped

        return with_words

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return _while_roles_move(lambda: function(*args, **kwargs))
        except BrownoutError as error:
            if is_open():
                current().interruption.fail(f"{function.__name__}: {error}")
            raise ActivityFailed(f"{function.__name__}: {error}") from error
        except (InterruptExecution, SystemExit, KeyboardInterrupt) as signal:
            if is_open():
                current().interruption.abort(cause_of(signal))
            raise

    return guarded


def _while_roles_move(act: Callable[[], R]) -> R:
    """Do it again where the target's role moved after it was chosen: nothing was touched."""
    for _ in range(_TRIES):
        with suppress(RoleMoved):
            return act()
    return act()


def actions_of(module: str) -> dict[str, Callable[..., dict[str, Any]]]:
    """Return every action that the module `brownout.actions.<name>` offers of registered faults."""
    short = module.rpartition(".")[2]
    return {name: action(name, module) for name in registry.actions(short)}


def action(name: str, module: str) -> Callable[..., dict[str, Any]]:
    """Return the action of the fault or undo `name`, as a function of `module`.

    A package with a fault of its own may offer its action itself:
    `fill_disk = action("fill_disk", __name__)`.
    """
    fault = registry.find(name)

    def do(**arguments: Any) -> dict[str, Any]:
        session = current()
        given = {key: each for key, each in arguments.items() if key not in _GIVEN_BY_CHAOS_TOOLKIT}
        meant = str(given.pop("node", fault.node)) if fault.takes_node else fault.node
        undo = name if isinstance(fault, Undo) else ""
        node = session.node(meant, undo) if meant is not None else None
        return session.faults.run(name, node, **_converted(fault, given))

    built = _function(do, name, module, inspect.getdoc(type(fault)), _parameters(fault))
    built.__dict__["fault"] = fault
    return built


def measure_probe(name: str, doc: str, module: str) -> Callable[..., dict[str, Any]]:
    """Return the probe of the measure `name`, as a function of `module` that `doc` describes.

    It takes a `scope` where the measure is one of parts of the load, too.
    """
    measure = find(name)
    if measure is None:
        raise ConfigurationError(f"{name}: there is no such measure")

    def ask(scope: str = "total", **_: Any) -> dict[str, Any]:
        return current().measure(name, scope)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    scope = inspect.Parameter("scope", kind, default="total", annotation=str)
    return _function(ask, name, module, doc, [scope] if measure.per_scope else [])


def _function(
    function: Callable[..., dict[str, Any]],
    name: str,
    module: str,
    doc: str | None,
    parameters: Sequence[inspect.Parameter],
) -> Callable[..., dict[str, Any]]:
    """Return `function` as an activity that Chaos Toolkit sees with these names and parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    all_parameters = [
        *parameters,
        *(
            inspect.Parameter(each, kind, default=None, annotation=type)
            for each, type in _GIVEN_BY_CHAOS_TOOLKIT.items()
        ),
    ]
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = module, doc
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        all_parameters, return_annotation=dict[str, Any]
    )
    function.__annotations__ = {each.name: each.annotation for each in all_parameters}
    function.__annotations__["return"] = dict[str, Any]
    return activity(function)


def fault_of(function: Callable[..., Any]) -> Action | None:
    """Return the fault or undo that an action was made from; None for any other function."""
    return getattr(function, "fault", None)


def function_at(path: str) -> Any:
    """Return the function of an activity by its full name; None where it cannot be imported."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name, None)
    except Exception:  # whatever an import does: the check of the experiment reports it
        return None


def told_of(function: Callable[..., Any]) -> str:
    """Return what a plan says of a function; empty where it says no more than the call."""
    return str(getattr(function, "told", ""))


def steps_of(function: Callable[..., Any]) -> Sequence[str]:
    """Return the names of the activities that a function is made of; none for most."""
    return tuple(getattr(function, "steps", ()))


def acts_of(function: Callable[..., Any]) -> tuple[Sequence[str], str]:
    """Return the faults and undos that a function does, and on which nodes; none for most."""
    acts: tuple[Sequence[str], str] = getattr(function, "acts", ((), ""))
    return acts


def _parameters(fault: Action) -> list[inspect.Parameter]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    if fault.takes_node:
        parameters.append(inspect.Parameter("node", kind, default=fault.node, annotation=str))
    parameters += [each.replace(kind=kind) for each in fault.parameters()]
    return parameters


def _converted(fault: Action, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as what the fault takes; variables of an experiment are text.

    Raises `ConfigurationError` with every one that cannot be converted.
    """
    problems, converted = [], dict(given)
    for parameter in fault.parameters():
        kind = _KINDS.get(parameter.annotation)
        if kind is None or parameter.name not in converted:
            continue
        try:
            converted[parameter.name] = parameter.annotation(
                convert(kind, converted[parameter.name])
            )
        except (ValueError, OverflowError):
            value = converted[parameter.name]
            problems.append(f"{parameter.name}: found {value!r}, wanted {kind}")
    if problems:
        raise ConfigurationError(problems)
    return converted
