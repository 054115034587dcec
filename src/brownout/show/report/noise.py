"""What noise does to a run, in sentences."""

from brownout.measure.baseline import BaselineFigures
from brownout.measure.sham import Sham
from brownout.show.report.words import number, quantity

__all__ = ["detectable_words", "sham_words", "stable_words"]


def detectable_words(drop: float) -> str:
    """`throughput drops below 4.1 % are within the noise`."""
    return f"throughput drops below {quantity('tps_drop', drop)} are within the noise"


def stable_words(base: BaselineFigures) -> str:
    """`stable`, `NOT STABLE`, or that only its throughput is not."""
    if not base.stable:
        return "NOT STABLE"
    return "stable" if base.throughput_known else "stable but for its throughput"


def sham_words(sham: Sham) -> str:
    """`control window of 20 s without a fault: drop 3.2 % (noise up to 4.1 %), no dip, …`."""
    dips = len(sham.dips)
    counted = f"{dips} {'dip' if dips == 1 else 'dips'}" if dips else "no dip"
    lost = sham.lost_operations
    cost = "" if lost is None else f", {number(lost)} operations lost"
    alarm = "  FALSE ALARM" if sham.false_alarm else ""
    return (
        f"control window of {sham.end - sham.start:.0f} s without a fault: drop "
        f"{quantity('tps_drop', sham.tps_drop)} (noise up to "
        f"{quantity('tps_drop', sham.detectable_drop)}), {counted}{cost}{alarm}"
    )
