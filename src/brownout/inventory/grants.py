"""What a login needs to be allowed for what brownout does: one table per database, as data.

    GRANTS = (Grant(acts=("stepdown",), privilege="the role `x`", statement="grant x to {user}",
                    ask=("cluster:step",)),)

The table is declared by the database's package. Its adapter asks a server for it, `plan`, `doctor`
and the run refuse what is missing, and the documentation has the same table.
"""

from dataclasses import dataclass

__all__ = ["EVERY_RUN", "LOAD", "Grant"]

#: What is done in every run, among the acts of a `Grant`: looking on, and the load.
EVERY_RUN, LOAD = "every run", "the load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One privilege, and the `acts` that need it, in the words of `needs`.

    `privilege` is what the database calls it, and `statement` gives it to `{user}`; `{namespace}`
    is the workload's. `ask` is what the adapter asks a server with; nothing where no server tells
    before it is done. The load does what it may before anything is broken, so its privileges are
    always known then.
    """

    acts: tuple[str, ...]
    privilege: str
    statement: str
    ask: tuple[str, ...] = ()

    def wanted_for(self, acts: frozenset[str]) -> bool:
        """Return whether a run that does `acts` needs it."""
        return bool({EVERY_RUN, LOAD, *acts} & set(self.acts))

    def words(self, user: str, namespace: str) -> tuple[str, str]:
        """Return the privilege and its statement for this user and namespace."""
        privilege, statement = (
            text.replace("{user}", user).replace("{namespace}", namespace)
            for text in (self.privilege, self.statement)
        )
        return privilege, statement
