"""Emptying a block device, on this machine or another: facts, what they forbid, and the wipe.

    facts.gather ──▶ guards.refusals ──▶ emptying.empty
    (a script)       (pure)              (discard or overwrite, then read back)

`check` and `empty` are what hosts call, each with a runner of scripts for the machine.
"""

from brownout.machine.devices.facts import Facts
from brownout.machine.devices.guards import check
from brownout.machine.devices.wipe import Emptied, empty

__all__ = ["Emptied", "Facts", "check", "empty"]
