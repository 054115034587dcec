"""Finding what plays the Aerospike node: a real `asd` where there is one, else our stand-in."""

import os
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.lab.settings import AerospikeLab
from brownout.databases.lab import beside, programs

__all__ = ["STAND_IN", "VARIABLE", "Server", "find_server"]

#: Names an asd; or `stand-in`, not to take a real one that is there.
VARIABLE = "BROWNOUT_ASD"
STAND_IN = "stand-in"
#: The Enterprise Edition wants a key file for its features, which a lab does not have.
_SAYS = r"Aerospike Community Edition build \d"


@dataclass(frozen=True, slots=True)
class Server:
    """A program that starts here, and whether it is the stand-in."""

    program: Path
    stand_in: bool

    def command(self, spec: AerospikeLab, configuration: Path) -> tuple[str, ...]:
        """Return the command line that starts a node with that configuration file."""
        words = (str(self.program), "--config-file", str(configuration))
        return (*words, "--edition", spec.edition) if self.stand_in else (*words, "--foreground")


def find_server() -> Server:
    """Return BROWNOUT_ASD's or PATH's asd if it starts here, else the stand-in of a checkout.

    Raises `ClusterError` if an asd was named and does not start: no other one is taken silently.
    """
    stand_in = os.environ.get(VARIABLE) == STAND_IN
    binary = programs.first(
        () if stand_in else programs.named(VARIABLE, "asd"),
        lambda program: programs.problem(program, _SAYS, "an Aerospike Community Edition"),
        VARIABLE,
        "asd",
    )
    if isinstance(binary, Path):
        return Server(binary, stand_in=False)
    try:
        return Server(beside.built("asd-stand-in", "a lab without a real asd"), stand_in=True)
    except ClusterError as error:
        raise ClusterError(
            "; ".join((*binary, error.message)),
            f"set {VARIABLE} to an asd of the Community Edition, or {error.hint}",
        ) from error
