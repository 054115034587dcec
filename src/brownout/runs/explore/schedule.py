"""A schedule: which faults in which order, on whom, when and for how long. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from brownout.base.words import duration
from brownout.faults import registry
from brownout.faults.act import PROCESS
from brownout.faults.fault import Fault
from brownout.faults.link import LinkFault
from brownout.session.targets import BROKEN

__all__ = [
    "OVERLAPPING",
    "PRIMARY",
    "PROMOTED",
    "RECOVERING",
    "REDUNDANT",
    "WHENS",
    "Schedule",
    "Step",
    "lasting",
    "may_follow",
]

#: When a step begins: with the cluster redundant; as soon as what is broken has been undone; while
#: it lasts; while it lasts, and another node is primary.
REDUNDANT, RECOVERING, OVERLAPPING, PROMOTED = WHENS = (
    "redundant",
    "recovering",
    "overlapping",
    "promoted",
)
PRIMARY = "primary"
_WORDS = {
    REDUNDANT: "once the cluster is redundant again",
    RECOVERING: "while the cluster recovers",
    OVERLAPPING: "while that lasts",
    PROMOTED: "while that lasts, once another node is primary",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One fault of a schedule.

    `fault` is its name and `node` a role, or `broken` for the node that the step before broke. It
    begins `gap_s` seconds after its moment, `when`, and lasts `lasts_s` seconds; 0 for what is over
    at once.
    """

    fault: str
    node: str
    when: str = REDUNDANT
    gap_s: float = 0.0
    lasts_s: float = 0.0
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def act(self) -> str:
        """The word for its fault in `needs` and `deny_acts`."""
        return registry.find(self.fault).act

    @property
    def undo(self) -> str:
        """The name of what undoes it; empty where it is over at once."""
        fault = registry.find(self.fault)
        stays = isinstance(fault, Fault) and getattr(fault, "stays", True)
        return fault.undo_name if isinstance(fault, Fault) and stays else ""

    @property
    def ends_process(self) -> bool:
        """Whether it ends or freezes a process of the node, as its undo's rank says."""
        undo = registry.undo_named(self.undo)
        return undo is not None and undo.rank == PROCESS

    @property
    def deposes(self) -> bool:
        """Whether the cluster has to find another primary."""
        return self.node == PRIMARY and (self.ends_process or self.act == "partition")

    @property
    def words(self) -> str:
        """`lose_packets of the secondary (percent 20) for 4 s`."""
        whom = "the same node" if self.node == BROKEN else f"the {self.node}"
        given = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        lasts = f" for {duration(self.lasts_s)}" if self.undo else ""
        return f"{self.fault} of {whom}{f' ({given})' if given else ''}{lasts}"

    @property
    def moment(self) -> str:
        """`0.5 s later, while the cluster recovers`."""
        later = f"{duration(self.gap_s)} later, " if self.gap_s else ""
        return later + _WORDS[self.when]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps in the order in which they begin."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, data: Sequence[Mapping[str, Any]]) -> Self:
        """Return the schedule of what `document` returned."""
        return cls(tuple(Step(**each) for each in data))

    def document(self) -> list[dict[str, Any]]:
        """Return it as JSON data."""
        return [asdict(step) for step in self.steps]

    @property
    def words(self) -> str:
        """All of it in a sentence."""
        first, *others = self.steps
        later = (f"{step.moment}: {step.words}" for step in others)
        return "; ".join([first.words, *later])

    @property
    def takes_s(self) -> float:
        """The seconds that its steps take, without waits for the cluster."""
        return sum(step.gap_s + step.lasts_s for step in self.steps)

    @property
    def faults(self) -> list[tuple[str, str, str]]:
        """What makes two schedules the same finding: faults, roles and moments in order."""
        return [(step.fault, step.node, step.when) for step in self.steps]

    def contains(self, shortest: Self) -> bool:
        """Whether it has the faults and roles of `shortest`, in their order."""
        steps = iter((step.fault, step.node) for step in self.steps)
        return all((step.fault, step.node) in steps for step in shortest.steps)

    @property
    def while_degraded(self) -> bool:
        """Whether a step may begin before the cluster is redundant again."""
        return any(step.when != REDUNDANT and step.node != BROKEN for step in self.steps)

    @property
    def is_possible(self) -> bool:
        """Whether each step may follow those before it; how many nodes may be down is not asked."""
        return bool(self.steps) and all(
            may_follow(self.steps[:number], step) for number, step in enumerate(self.steps)
        )


def may_follow(before: Sequence[Step], step: Step) -> bool:
    """Return whether `step` can come after the steps before it.

    A fault of a node that is broken already has to leave in place what broke it: a process that is
    ended or frozen takes no second fault.
    """
    if not before:
        return step.when == REDUNDANT and step.node != BROKEN
    open_steps = lasting(before)
    last = before[-1]
    if step.when in (REDUNDANT, RECOVERING):
        return step.node != BROKEN and (step.when == REDUNDANT or bool(last.undo))
    if not last.undo or step.gap_s >= last.lasts_s:
        return False
    if step.when == PROMOTED:
        deposed = [each for each in open_steps if each.deposes]
        if not deposed or any(each.when == PROMOTED for each in open_steps):
            return False
    if step.node != BROKEN:
        return step.fault not in {each.fault for each in open_steps}
    links = all(isinstance(registry.find(each.fault), LinkFault) for each in open_steps)
    return links and step.ends_process


def lasting(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps at the end of `steps` that last together."""
    for number in reversed(range(len(steps))):
        if steps[number].when in (REDUNDANT, RECOVERING):
            return steps[number:]
    return steps
