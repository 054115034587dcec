"""When something happened on another machine, on our own monotonic clock.

The other machine's clock may be off by years; only differences between its readings are used. A
script stamps when it began, when the effect was last not there and first there, and when it ended:

    ours      sent ──────────────────────────────────────────▶ received
    theirs         began ─── last_no ─ first_yes ─── ended

What was sent before `began` and received after `ended` bounds the offset of the two clocks, and
so both ends of the effect. A script of our own machine has our own clock: its offset is known.
"""

from brownout.machine.commands import Answer, Completed

__all__ = ["bracket"]

_NS = 1e9
#: Two clocks may differ by so much in speed (NTP slews by 500 ppm) and still be believed.
_SLEW = 1.001


def bracket(done: Completed, reply: Answer) -> tuple[float, float]:
    """Return when the effect was there at the latest, and for how long before it may have been.

    Without a `stamp_last_no` it may have been there since the first attempt was sent, and so it
    may where the other clock was set in between.
    """
    began, ended = reply.number("stamp_began"), reply.number("stamp_ended")
    yes, no = reply.number("stamp_first_yes"), reply.number("stamp_last_no")
    latest, earliest = done.received, done.first_sent
    if done.ahead_s is not None:
        if yes is not None:
            latest = min(latest, yes / _NS - done.ahead_s)
        if no is not None:
            earliest = max(earliest, no / _NS - done.ahead_s)
    elif began is not None and ended is not None and _steady(done, began, ended):
        if yes is not None:
            latest = min(latest, done.received - (ended - yes) / _NS)
        if no is not None:
            earliest = max(earliest, done.sent + (no - began) / _NS)
    return latest, max(0.0, latest - earliest)


def _steady(done: Completed, began: int, ended: int) -> bool:
    """Whether their clock advanced as ours did."""
    return 0 <= ended - began <= (done.received - done.sent) * _SLEW * _NS
