"""Every error brownout raises on purpose, and the exit codes of its commands.

BrownoutError                    something brownout can explain; the hint says what to do
├── ConfigurationError           bad input: nothing was touched
├── Unsupported                  this database or host cannot do that: nothing was touched
├── Refused                      a guard, a server or a machine said no: nothing was touched
├── ClusterError                 the cluster did not answer or not as wanted
│   ├── CommandFailed            a node answered, and the answer was an error
│   └── NoAnswer                 a node gave none in time, so its state is unknown
├── HostError                    a process or machine did not do as told; the message has its state
│   └── Denied                   it answered that we may not, so it is `Refused` as well
├── GeneratorError               the load generator failed; the load may be incomplete
├── RunDirectoryError            a run directory cannot be made, written or read
├── Inconclusive                 the run cannot be judged: no data is never a pass
├── Aborted                      a person or a stop condition ended the run
└── UndoFailed                   something broken by brownout is still broken

Bad input and a refusal mean that nothing was touched; after any other error the run's events
say what was.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

__all__ = [
    "Aborted",
    "BrownoutError",
    "ClusterError",
    "CommandFailed",
    "ConfigurationError",
    "Denied",
    "ExitCode",
    "GeneratorError",
    "HostError",
    "Inconclusive",
    "NoAnswer",
    "Refused",
    "RunDirectoryError",
    "UndoFailed",
    "Unsupported",
    "after_effect",
    "ordering",
]


class ExitCode(IntEnum):
    """What a brownout command tells its caller."""

    PASS = 0
    FAIL = 1
    INCONCLUSIVE = 2
    ABORTED = 3
    UNDO_FAILED = 4
    BAD_INPUT = 64

    @classmethod
    def of(cls, verdict: str) -> "ExitCode":
        """Return the code of a run's, a gate's or a game day's verdict."""
        codes = {"pass": cls.PASS, "fail": cls.FAIL, "aborted": cls.ABORTED,
                 "not put back": cls.UNDO_FAILED}  # fmt: skip
        return codes.get(verdict, cls.INCONCLUSIVE)


class BrownoutError(Exception):
    """Something that brownout can explain: `message` says what and where, `hint` what to do."""

    exit_code = ExitCode.INCONCLUSIVE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class ConfigurationError(BrownoutError):
    """Bad input. `problems` holds every one that was found; nothing was touched."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, problems: Sequence[str] | str, hint: str = "") -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        listed = self.problems
        text = listed[0] if len(listed) == 1 else "\n".join([f"{len(listed)} problems:", *listed])
        super().__init__(text, hint)


class Unsupported(BrownoutError):
    """The database or the host cannot do what was asked; nothing was touched."""

    exit_code = ExitCode.BAD_INPUT


class Refused(BrownoutError):
    """A guard said no, or the server or machine itself did; nothing was touched.

    Only a definite answer is a refusal: after a time-out the outcome is unknown.
    """

    exit_code = ExitCode.BAD_INPUT


class ClusterError(BrownoutError):
    """The cluster did not answer, or not as wanted."""


class CommandFailed(ClusterError):
    """A node answered, and the answer was an error.

    `refused` says that the node did not act on the command, for example because a privilege is
    missing.
    """

    def __init__(self, message: str, hint: str = "", *, refused: bool = False) -> None:
        super().__init__(message, hint)
        self.refused = refused


class NoAnswer(ClusterError):
    """A node gave no answer in time: it may be well or not. One that refuses has answered."""


class HostError(BrownoutError):
    """A process or machine did not do as it was told; the message says what state it is in."""


class Denied(HostError, Refused):
    """A machine, its sudo or an API answered that we may not do this: nothing was touched."""


class GeneratorError(BrownoutError):
    """The load generator failed; what it had written is still in the run directory."""


class RunDirectoryError(BrownoutError):
    """A run directory cannot be made, written or read."""

    exit_code = ExitCode.BAD_INPUT


class Inconclusive(BrownoutError):
    """The run cannot be judged, because data that the verdict needs is missing."""


class Aborted(BrownoutError):
    """A person or a stop condition ended the run."""

    exit_code = ExitCode.ABORTED


class UndoFailed(BrownoutError):
    """Something that brownout broke is still broken; `hint` says how to repair it."""

    exit_code = ExitCode.UNDO_FAILED


@contextmanager
def ordering(what: str, hint: str = "") -> Iterator[None]:
    """Give an order that is one command: raise `Refused` where the node did nothing of it.

    `what` says what did not come about, and `hint` what to do where the error has none of its own.
    Any other error of the node is a `ClusterError`: part of the order may have been done.
    """
    try:
        yield
    except CommandFailed as error:
        kind = Refused if error.refused else ClusterError
        raise kind(f"{what}: {error.message}", error.hint or hint) from error


@contextmanager
def after_effect() -> Iterator[None]:
    """Continue an act whose first part had its effect: a refusal in here does not undo that."""
    try:
        yield
    except Refused as error:
        kind = HostError if isinstance(error, HostError) else ClusterError
        raise kind(error.message, error.hint) from error
