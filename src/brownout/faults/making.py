"""Making one change after the other, and keeping account of what each leaves to be put back.

owed noted ──▶ intent ──▶ done: effective ──▶ what it pays is off the account ──▶ end
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from brownout.faults import debts
from brownout.faults.acts import Act, Acts, Evidence
from brownout.faults.debts import Debt
from brownout.machine.host import Proof

__all__ = ["Making"]


class Making:
    """The changes of one run as they are made; `owed` is what is still to be put back, in order.

    `made` is called after each, while no milestone counts yet.
    """

    def __init__(self, acts: Acts, owed: Sequence[Debt], made: Callable[[], None]) -> None:
        self._acts, self._made = acts, made
        self.owed = tuple(owed)
        self._under_way = False

    @property
    def settled(self) -> bool:
        """Whether no change is half made and none keeps members away, so that milestones count."""
        return not self._under_way and not debts.is_open(self.owed)

    def make(
        self,
        type: str,
        name: str,
        owes: Debt | None,
        do: Callable[[], Proof],
        arguments: dict[str, Any] | None = None,
        finish: Callable[[], dict[str, Any]] = dict,
        rolling: bool = False,
    ) -> Evidence:
        """Make a change: what it owes is noted before it is made, what it pays once it is.

        `finish` waits for the end of one that goes on after its effect, and returns what was seen
        of it. Until a `rolling` one is at its end no milestone counts: its members go in turn.
        """
        node, setting = (owes.node, owes.setting) if owes else (None, "")
        mending = type == "mend" or debts.pays(self.owed, name, node, setting)
        if type == "break":
            self._acts.before_break()
        if owes and not mending:
            self.owed = debts.owe(self.owed, owes)
        undo = owes.undo() if owes and not mending else None
        entry = self._acts.intend(Act(type, name, node, undo, arguments))
        with self._half_made():
            evidence = self._acts.takes_effect(entry, self._acts.do(entry, do))
            if mending:
                self.owed = debts.paid(self.owed, name, node, setting)
            self._made()
            if rolling:
                seen = self._acts.do(entry, finish)
        if not rolling:
            seen = self._acts.do(entry, finish)
        self._acts.ends(entry, seen)
        return {"node": node, **evidence, **seen}

    @contextmanager
    def _half_made(self) -> Iterator[None]:
        """Let no milestone count before what is done in here is done."""
        self._under_way = True
        try:
            yield
        finally:
            self._under_way = False
