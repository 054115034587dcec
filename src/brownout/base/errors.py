"""Every error brownout raises on purpose, and the exit codes of its commands.

BrownoutError                    something brownout can explain; the hint says what to do
├── ConfigurationError           bad input: nothing was touched
├── Unsupported                  this database or host cannot do that: nothing was touched
├── Refused                      a guard said no: nothing was touched
├── ClusterError                 the cluster did not answer or not as wanted
│   └── NoAnswer                 a node gave none in time, so that nobody knows how it is
├── HostError                    a process or machine did not do as told; the message has its state
├── GeneratorError               the load generator failed; the load may be incomplete
├── RunDirectoryError            a run directory cannot be made, written or read
├── Inconclusive                 the run cannot be judged: no data is never a pass
├── Aborted                      a person or a stop condition ended the run
└── UndoFailed                   something broken by brownout is still broken

Bad input and a refusal mean that nothing was touched; after any other error the run's events
say what was.
"""

from collections.abc import Sequence
from enum import IntEnum

__all__ = [
    "Aborted",
    "BrownoutError",
    "ClusterError",
    "ConfigurationError",
    "ExitCode",
    "GeneratorError",
    "HostError",
    "Inconclusive",
    "NoAnswer",
    "Refused",
    "RunDirectoryError",
    "UndoFailed",
    "Unsupported",
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
        known = {"pass": cls.PASS, "fail": cls.FAIL, "aborted": cls.ABORTED,
                 "not put back": cls.UNDO_FAILED}  # fmt: skip
        return known.get(verdict, cls.INCONCLUSIVE)


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
        found = self.problems
        text = found[0] if len(found) == 1 else "\n".join([f"{len(found)} problems:", *found])
        super().__init__(text, hint)


class Unsupported(BrownoutError):
    """The database or the host cannot do what was asked; nothing was touched."""

    exit_code = ExitCode.BAD_INPUT


class Refused(BrownoutError):
    """A guard said no and says why; nothing was touched."""

    exit_code = ExitCode.BAD_INPUT


class ClusterError(BrownoutError):
    """The cluster did not answer, or not as wanted."""


class NoAnswer(ClusterError):
    """A node gave no answer in time: it may be well or not. One that refuses has answered."""


class HostError(BrownoutError):
    """A process or machine did not do as it was told; the message says what state it is in."""


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
    """Something that brownout broke is still broken; `hint` says how to mend it."""

    exit_code = ExitCode.UNDO_FAILED
