"""The canary: the official Python client beside the load, with an application's own policies.

The load measures the database; the canary says what an application like ours sees of it. It reads
and writes a few records of its own at a low rate, by intended starts, in a process of its own
(`process`), which `beside` starts and ends and which can do a run no harm. `settings` says which
canary a run has.
"""

from brownout.load.canary.beside import CanaryBeside
from brownout.load.canary.settings import canary_of

__all__ = ["CanaryBeside", "canary_of"]
