"""The ledger of acknowledged writes: what was promised against what was read back.

Each key ends in exactly one class. `ok`: the last acknowledged write was read. `recovered`: a
newer one that was in doubt. `lost`: an acknowledged write is gone, split into `rolled_back` (an
older state came back), `overwritten_by_late` (an older write in doubt won) and `corrupt` (what is
there fails its checksum). `unexpected`: a write that failed, was never tried, or is another
writer's. `unread`: no answer came.

A write is refused where something else is stored than its writer knows; its key is not written
again, so that what is read back is what was left of it. Records of the data set that the run
loaded are acknowledged too: each one that is gone or corrupt is a lost write. So is each key of
which an answer failed its checksum during the run, if an answer fails it again afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from brownout.run.copies import Copies, copies_of, is_compared
from brownout.run.histories import Histories, histories_of, is_of_history
from brownout.run.reads import Reads, is_of_reads, reads_of

__all__ = ["Ledger", "classify"]

Line = Mapping[str, Any]
#: What is equal where every vote is stored whole.
SIDES = ("total", "choices", "records")
#: So many keys that are not ok are listed by name.
_EXAMPLES = 20
#: The classes of a key that has lost acknowledged writes.
_LOST = ("rolled_back", "overwritten_by_late", "corrupt")


@dataclass(frozen=True, slots=True)
class Ledger:
    """The sums. Keys: all that end in `_keys`, `keys`, `read`, `ok`, `recovered`, `unexpected`,
    `corrupt`, `unread`. Writes: `acknowledged`, `in_doubt`, `failed`, `lost`, `rolled_back`,
    `overwritten_by_late`.

    `refused_keys` are those at which a write found something else than its writer knew, `refused`
    the first of them; those of them that are whole after all were `temporarily_missing`.
    `data_keys`, `data_read`, `data_lost` and `data_corrupt` are records of the data set; None: they
    were not read. `data_lost` includes the corrupt ones. `corrupt` keys and records are each one of
    the `lost` writes. `garbled_answers` failed their checksum during the run; None: an older
    generator did not count them.
    `in_doubt_applied` and `in_doubt_absent` are what became of writes in doubt; the rest of
    `in_doubt` is unresolved. None: an older generator did not report it.

    `balances` are, of streams of votes, the total, the choices and the records as found. `copies`
    is what every server has stored itself; None: that was not compared. `reads` is what the reads
    of verified streams came to; None: none was checked. `histories` is whether registers were
    linearizable; None: that was not checked.

    `state` is `clean`, `lost` (an acknowledged write is gone or cannot be read intact), `unknown`
    (no word on some keys, and nothing known to be lost) or `none` (no verified stream).
    """

    state: str
    detail: str
    keys: int = 0
    read: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    failed: int = 0
    ok: int = 0
    recovered: int = 0
    lost: int = 0
    lost_keys: int = 0
    rolled_back: int = 0
    rolled_back_keys: int = 0
    overwritten_by_late: int = 0
    overwritten_by_late_keys: int = 0
    unexpected: int = 0
    corrupt: int = 0
    unread: int = 0
    in_doubt_applied: int | None = None
    in_doubt_absent: int | None = None
    refused_keys: int = 0
    temporarily_missing: int = 0
    data_keys: int | None = None
    data_read: int | None = None
    data_lost: int | None = None
    data_corrupt: int | None = None
    garbled_answers: int | None = None
    sampled: bool = False
    examples: tuple[Mapping[str, Any], ...] = field(default=())
    refused: tuple[Mapping[str, Any], ...] = field(default=())
    balances: tuple[Mapping[str, Any], ...] = field(default=())
    copies: Copies | None = None
    reads: Reads | None = None
    histories: Histories | None = None

    @property
    def promised(self) -> int:
        """Every acknowledged write: those of the load, and the records that the run had loaded."""
        return self.acknowledged + (self.data_keys or 0)

    @property
    def lost_writes(self) -> int | None:
        """Acknowledged writes that are gone or corrupt; None where it is not known."""
        return self.lost if self.state in ("clean", "lost") else None

    def bounds(self, measure: str) -> tuple[float, float] | None:
        """Return the least and the most that a measure of the ledger may be; None: not known.

        An unresolved write in doubt may have taken effect, or not.
        """
        if measure == "diverged_copies":
            return None if self.copies is None else self.copies.bounds
        if measure == "nonlinearizable_registers":
            return None if self.histories is None else self.histories.bounds
        if measure.startswith(("stale_", "dirty_")):
            return None if self.reads is None else self.reads.bounds(measure)
        if self.lost_writes is None or measure == "lost_writes":
            return None if self.lost_writes is None else (self.lost_writes, self.lost_writes)
        applied, absent = self.in_doubt_applied, self.in_doubt_absent
        if applied is None or absent is None:
            return None
        minimum = {"in_doubt_applied": applied, "in_doubt_absent": absent}[measure]
        return minimum, minimum + max(0, self.in_doubt - applied - absent)

    def value(self, measure: str) -> float | None:
        """Return a measure of the ledger, as far as it was found; None where it is not known."""
        bounds = self.bounds(measure)
        return None if bounds is None else bounds[0]

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as JSON data."""
        return {
            **asdict(self),
            "examples": [dict(example) for example in self.examples],
            "refused": [dict(each) for each in self.refused],
            "balances": [dict(balance) for balance in self.balances],
        }


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one key turned out to be; `writes` is how many acknowledged ones are gone."""

    kind: str
    writes: int = 0
    applied: int = 0
    absent: int = 0


def classify(
    lines: Iterable[Line], *, verified: bool = True, finished: bool = True, away: bool = False
) -> Ledger:
    """Classify every key of a ledger.

    `verified` says whether any stream kept one, `finished` whether the generator lived to write
    down how its last operations ended. `away` says that it was read while nodes were away that may
    have what was missing or older: the state of such a key is unknown.
    """
    keys: dict[tuple[str, str], Line] = {}
    reads: dict[tuple[str, str], Line] = {}
    end: Line | None = None
    balances: list[Line] = []
    data: list[Line] = []
    garbled: list[Line] = []
    records: dict[str, Line] = {}
    copies: list[Line] = []
    checked: list[Line] = []
    histories: list[Line] = []
    for line in lines:
        stream = str(line.get("stream", ""))
        if is_compared(line):
            copies.append(line)
        elif is_of_reads(line):
            checked.append(line)
        elif is_of_history(line):
            histories.append(line)
        elif "key" in line:
            keys[stream, str(line["key"])] = line
        elif "read" in line and "stream" in line:
            reads[stream, str(line["read"])] = line
        elif line.get("end"):
            end = line
        elif "check" in line:
            balances.append(line)
        elif "data" in line:
            data.append(line)
        elif "garbled" in line:
            garbled.append(line)
        elif "record" in line:
            records[str(line["record"])] = line
    if not verified and not garbled:
        return Ledger("none", "no stream is verified")
    sampled = bool(end and end.get("sampled"))
    outcomes = {at: _judge(key, reads.get(at), sampled) for at, key in keys.items()}
    if away:
        gone = ("rolled_back", "overwritten_by_late")
        outcomes = {
            at: _Outcome("unread") if each.kind in gone else each for at, each in outcomes.items()
        }
    for at in outcomes:
        if at[1] in records and outcomes[at].kind in ("ok", "recovered", "unread", "unsampled"):
            outcomes[at] = _Outcome("corrupt", 1)  # the majority has it, and another copy does not
    of_data = [record for name, record in records.items() if name not in {at[1] for at in keys}]
    sums = _sum(keys, reads, outcomes, end, balances)
    sums = _with_data(sums, data, of_data, away)
    if garbled:
        sums = _with_garbled(sums, garbled)
    dirty, undecided = _unacked_reads(keys, reads, outcomes)
    sums = replace(sums, copies=copies_of(copies), reads=reads_of(checked, dirty, undecided))
    sums = replace(sums, histories=histories_of(histories))
    return _concluded(sums, end, finished) if verified else _without_keys(sums)


def _unacked_reads(
    keys: Mapping[tuple[str, str], Line],
    reads: Mapping[tuple[str, str], Line],
    outcomes: Mapping[tuple[str, str], "_Outcome"],
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the dirty reads, and those of which it is not known, by stream and lane.

    They returned a write that was not acknowledged, and was the last of its key when the load
    ended. It is gone if an older one was read back.
    """
    dirty: Counter[tuple[str, str]] = Counter()
    undecided: Counter[tuple[str, str]] = Counter()
    for at, key in keys.items():
        for each in key.get("unacked_reads", ()):
            of = (at[0], each["lane"])
            if outcomes[at].kind in ("unread", "unsampled", "corrupt"):
                undecided[of] += each["n"]
            elif "seq" in reads[at] and reads[at].get("writer") == key.get("writer"):
                dirty[of] += each["n"] if int(reads[at]["seq"]) < each["seq"] else 0
    return dirty, undecided


def _words_of(balance: Line) -> str:
    """Return the equation of a stream of votes, or that it does not hold and by what.

    Each side is judged by its own keys; a vote of which only a part is stored, because a step
    failed or is in doubt, makes the sides differ without any acknowledged write being lost.
    """
    sides = {name: balance[name] for name in SIDES}
    counts = {name: int(side["found"]) for name, side in sides.items()}
    acknowledged = int(sides["records"]["acked"])
    words = [f"{counts['total']:,} in total", f"{counts['choices']:,} by choice"]
    words += [f"{counts['records']:,} voters' records", f"{acknowledged:,} acknowledged"]
    equal = len({*counts.values(), acknowledged}) == 1
    shown = f"{balance.get('stream', '')}: {(' = ' if equal else ', ').join(words)}"
    in_doubt = sum(int(side["in_doubt"]) for side in sides.values())
    return shown if equal else f"{shown}: not equal, with {in_doubt:,} steps in doubt"


def _judge(key: Line, read: Line | None, sampled: bool) -> _Outcome:
    """Return the class of one key."""
    if read is None:
        return _Outcome("unsampled" if sampled else "unread")
    if "error" in read:
        return _Outcome("unread")
    if key.get("kind") == "counter" and not read.get("checksum_ok", True):
        return _Outcome("corrupt", 1, *_resolved(key))
    if key.get("kind") == "counter":
        return _judge_counter(key, read) if {"value", "missing"} & set(read) else _Outcome("unread")
    is_readable = {"seq", "missing"} & set(read) or not read.get("checksum_ok", True)
    return _judge_register(key, read) if is_readable else _Outcome("unread")


def _judge_counter(key: Line, read: Line) -> _Outcome:
    """Acknowledged <= value <= acknowledged + in doubt; an increment is 1.

    The one writer of a counter may know better what is to be there, as `known`.
    """
    acked, value = int(key["acked"]), 0 if read.get("missing") else int(read["value"])
    applied, absent = _resolved(key)
    low, high = key.get("known", (acked, acked + int(key.get("in_doubt_n", 0))))
    if read.get("missing") and (acked or key.get("loaded")):
        return _Outcome("rolled_back", max(acked, 1), applied, absent)
    if value < low:
        return _Outcome("rolled_back", max(acked - value, 1), applied, absent)
    if value > high:
        return _Outcome("unexpected", 0, applied, absent)
    applied, absent = applied + value - low, absent + high - value
    if key.get("remade_n"):  # what was acknowledged before, or the write that made it, is gone
        return _Outcome("rolled_back", 1, applied, absent)
    return _Outcome("ok" if value == acked else "recovered", 0, applied, absent)


def _judge_register(key: Line, read: Line) -> _Outcome:
    """Compare the sequence that was read with the last acknowledged one."""
    kind, writes = _register(key, read)
    applied, absent = _resolved(key)
    acked, seq = int(key["acked"]), 0 if read.get("missing") else int(read.get("seq", 0))
    if kind in ("ok", "recovered"):
        later = [(max(a, acked + 1), b) for a, b in key.get("in_doubt", ()) if b > acked]
        applied += kind == "recovered"
        absent += sum(max(0, b - max(a, seq + 1) + 1) for a, b in later)
    return _Outcome(kind, writes, applied, absent)


def _resolved(key: Line) -> tuple[int, int]:
    """Return how many writes in doubt later writes found applied, and absent."""
    return int(key.get("applied_n", 0)), int(key.get("absent_n", 0))


def _register(key: Line, read: Line) -> tuple[str, int]:
    acked = int(key["acked"])
    if read.get("missing"):
        return ("rolled_back", int(key["acked_n"])) if acked else ("ok", 0)
    if not read.get("checksum_ok", True):
        return "corrupt", 1
    if read.get("writer") != key.get("writer"):
        return "unexpected", 0
    seq = int(read["seq"])
    if seq == acked:
        return "ok", 0
    in_doubt = _holds(key.get("in_doubt", ()), seq)
    if seq > acked:
        return ("recovered" if in_doubt else "unexpected"), 0
    if seq < 1:
        return "unexpected", 0
    late = in_doubt or _holds(key.get("failed", ()), seq)
    return ("overwritten_by_late" if late else "rolled_back"), _acked_after(key, seq)


def _holds(ranges: Iterable[Iterable[int]], seq: int) -> bool:
    return any(first <= seq <= last for first, last in ranges)


def _acked_after(key: Line, seq: int) -> int:
    """Count the acknowledged writes newer than `seq`.

    All sequences up to the last acknowledged one were tried, so those that neither failed nor
    are in doubt were acknowledged. Coarse ranges cover too much; one at least is gone.
    """
    acked = int(key["acked"])
    others = sum(
        max(0, min(last, acked) - max(first, seq + 1) + 1)
        for name in ("in_doubt", "failed")
        for first, last in key.get(name, ())
    )
    return int(max(1, min(acked - seq - others, int(key["acked_n"]))))


def _sum(
    keys: Mapping[tuple[str, str], Line],
    reads: Mapping[tuple[str, str], Line],
    outcomes: Mapping[tuple[str, str], _Outcome],
    end: Line | None,
    balances: Sequence[Line],
) -> Ledger:
    kinds = Counter(each.kind for each in outcomes.values())
    writes: Counter[str] = Counter()
    for each in outcomes.values():
        writes[each.kind] += each.writes
    has_resolved = any("loaded" in key or "applied_n" in key for key in keys.values()) or not keys
    refused = [at for at, key in keys.items() if "refused" in key]
    return Ledger(
        state="",
        detail="",
        keys=len(keys),
        read=len(keys) - kinds["unsampled"] - kinds["unread"],
        acknowledged=sum(int(key.get("acked_n", 0)) for key in keys.values()),
        in_doubt=sum(_count(key, "in_doubt") for key in keys.values()),
        failed=sum(_count(key, "failed") for key in keys.values()),
        lost=sum(writes[kind] for kind in _LOST),
        lost_keys=sum(kinds[kind] for kind in _LOST),
        rolled_back=writes["rolled_back"],
        rolled_back_keys=kinds["rolled_back"],
        overwritten_by_late=writes["overwritten_by_late"],
        overwritten_by_late_keys=kinds["overwritten_by_late"],
        ok=kinds["ok"],
        recovered=kinds["recovered"],
        unexpected=kinds["unexpected"],
        corrupt=kinds["corrupt"],
        unread=kinds["unread"],
        in_doubt_applied=sum(each.applied for each in outcomes.values()) if has_resolved else None,
        in_doubt_absent=sum(each.absent for each in outcomes.values()) if has_resolved else None,
        refused_keys=len(refused),
        temporarily_missing=sum(outcomes[at].kind in ("ok", "recovered") for at in refused),
        sampled=bool(end and end.get("sampled")),
        examples=_examples(keys, reads, outcomes),
        refused=tuple(
            {"stream": at[0], "key": at[1], **keys[at]["refused"], "class": outcomes[at].kind}
            for at in refused[:_EXAMPLES]
        ),
        balances=tuple(balances),
    )


def _with_data(sums: Ledger, data: Sequence[Line], records: Sequence[Line], away: bool) -> Ledger:
    """Add the records of the data set: each that is gone or corrupt is a lost key and write.

    With nodes `away`, a record that is missing may lie on one of them.
    """
    unsure = sum(1 for record in records if away and not _is_certain(record))
    lost, corrupt = len(records) - unsure, sum(1 for each in records if each.get("corrupt"))
    sums = replace(
        sums,
        lost=sums.lost + lost,
        lost_keys=sums.lost_keys + lost,
        corrupt=sums.corrupt + corrupt,
        unread=sums.unread + unsure + sum(int(line["unread"]) for line in data),
        sampled=sums.sampled or any(line.get("sampled") for line in data),
    )
    if not data:
        return sums
    return replace(
        sums,
        data_keys=sum(int(line["keys"]) for line in data),
        data_read=sum(int(line["read"]) for line in data) - unsure,
        data_lost=lost,
        data_corrupt=corrupt if all("corrupt" in line for line in data) else None,
    )


def _is_certain(record: Line) -> bool:
    return bool(record.get("remade_t") or record.get("corrupt"))


def _with_garbled(sums: Ledger, garbled: Sequence[Line]) -> Ledger:
    """Add the answers that failed their checksum during the run, whose keys were read again."""
    unread = sum(int(line["unread"]) for line in garbled)
    return replace(
        sums,
        garbled_answers=sum(int(line["answers"]) for line in garbled),
        unread=sums.unread + unread,
    )


def _without_keys(sums: Ledger) -> Ledger:
    """Conclude a ledger that has only answers which failed their checksum."""
    words = "; ".join(["no stream is verified", *_words_of_garbled(sums)])
    if sums.lost:
        return replace(sums, state="lost", detail=words)
    return replace(sums, state="unknown" if sums.unread else "none", detail=words)


def _words_of_garbled(sums: Ledger) -> list[str]:
    if not sums.garbled_answers:
        return []
    again = f"{sums.corrupt:,} keys fail it still" if sums.corrupt else "every key is intact again"
    return [f"{sums.garbled_answers:,} answers failed their checksum during the run, {again}"]


def _concluded(sums: Ledger, end: Line | None, finished: bool) -> Ledger:
    promised = int(end.get("keys", 0)) if end else 0
    state, detail = _state(sums, ended=end is not None, finished=finished, promised=promised)
    words = [detail, *_words_of_data(sums), *_words_of_garbled(sums)]
    words += map(_words_of, sums.balances)
    words += [sums.copies.words] if sums.copies else []
    words += [sums.reads.words] if sums.reads else []
    words += [sums.histories.words] if sums.histories else []
    if sums.temporarily_missing:
        words.append(f"{sums.temporarily_missing:,} keys were missing for a time and are back")
    return replace(sums, state=state, detail="; ".join(words))


def _words_of_data(sums: Ledger) -> list[str]:
    if sums.data_keys is None:
        return []
    corrupt = sums.data_corrupt or 0
    how = "looked for, not read" if sums.data_corrupt is None else "read back"
    words = f"{sums.data_read:,} of {sums.data_keys:,} records of the data set were {how}"
    gone = (sums.data_lost or 0) - corrupt
    losses = [f"{gone:,} are gone"] if gone else []
    losses += [f"{corrupt:,} are corrupt"] if corrupt else []
    return [", ".join([words, *losses])]


def _state(sums: Ledger, *, ended: bool, finished: bool, promised: int) -> tuple[str, str]:
    """Return the state and the sentence that explains it; what is lost is lost, whatever else."""
    of = f"of {sums.acknowledged:,} writes acknowledged in the run"
    if sums.lost:
        of_keys = sums.corrupt - (sums.data_corrupt or 0)
        lost, keys = sums.lost - (sums.data_lost or 0), sums.lost_keys - (sums.data_lost or 0)
        corrupt = f"; {of_keys:,} of these cannot be read intact" if of_keys else ""
        return "lost", f"{lost:,} {of} are gone, in {keys:,} keys{corrupt}"
    if not finished:
        return "unknown", "the generator died before it had written down what it was promised"
    if not sums.keys:
        return "unknown", "no key was written down"
    if not ended:
        return "unknown", f"{sums.read:,} of {sums.keys:,} keys were read back: it was not finished"
    if sums.keys < promised:
        return "unknown", f"{sums.keys:,} of {promised:,} keys are in the file: it is damaged"
    if sums.unread:
        return (
            "unknown",
            f"{sums.unread:,} of {sums.keys + (sums.data_keys or 0):,} keys could not be read back",
        )
    if sums.unexpected:
        return "unknown", f"{sums.unexpected:,} of {sums.keys:,} keys hold foreign values"
    if not sums.read:
        return "unknown", "no key was read back"
    return "clean", f"all {of} are there, by {sums.read:,} of {sums.keys:,} keys read"


def _count(key: Line, fate: str) -> int:
    """Return how many writes of a key had this fate: as counted, or else by its ranges."""
    counted = key.get(f"{fate}_n")
    ranges = key.get(fate, ())
    return int(counted if counted is not None else sum(b - a + 1 for a, b in ranges))


def _examples(
    keys: Mapping[tuple[str, str], Line],
    reads: Mapping[tuple[str, str], Line],
    outcomes: Mapping[tuple[str, str], _Outcome],
) -> tuple[Mapping[str, Any], ...]:
    """Return the first keys that are neither ok nor recovered, with what was found there."""
    bad = [at for at, each in outcomes.items() if each.kind not in ("ok", "recovered", "unsampled")]
    return tuple(
        {
            "stream": at[0],
            "key": at[1],
            "class": outcomes[at].kind,
            "writes": outcomes[at].writes,
            "acked": keys[at].get("acked"),
            "read": {k: v for k, v in reads.get(at, {}).items() if k not in ("read", "stream")},
        }
        for at in bad[:_EXAMPLES]
    )
