"""Test a client of a stream against the rules of docs/client.md, before a load depends on it."""

import json
import os
import queue
import secrets
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Conversation", "Rule", "check", "check_hanging", "ended"]

#: A client is opened and closed within so many seconds, and an answer that comes this long after
#: its deadline is one that will not come.
OPEN_S, CLOSE_S, LATE_S = 60.0, 5.0, 10.0
DEADLINE_MS = 5_000
#: So many requests are sent at once, and that soon is the shortest deadline.
AT_ONCE, SOON_MS = 200, 1
#: A write that a hanging server never answers has this deadline. Of several primaries one hangs; it
#: has some of this many keys.
HANGING_MS, HANGING_KEYS = 1_000, 32
#: A write that failed with one of these causes was not sent.
UNSENT = ("pool-exhausted", "no-node", "no-slot", "connect-refused", "client-timeout-connect")
ENDS = ("ok", "failed", "in_doubt", "refused")

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, and what is wrong; an empty `problem` is a rule that was kept."""

    name: str
    problem: str = ""


class Conversation:
    """A client that runs; a context, whose process has ended when it is left."""

    def __init__(
        self, command: Sequence[str], connection: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1,
            encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._sent = 0
        self.strange: list[str] = []
        self._reader = threading.Thread(target=self._read, name="client", daemon=True)
        self._reader.start()
        self._send(
            do="open", version=1, namespace="brownout", run="check", stream="check",
            connection=dict(connection), options=dict(options),
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):  # its whole group, which may outlive the client
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()

    def opened(self) -> str:
        """Wait for the answer to `open`; return what is wrong with it."""
        answer = self._next(OPEN_S)
        if answer is None:
            return f"no answer to `open` within {OPEN_S:g} s, or the client ended"
        if answer.get("error"):
            return f"`open` was answered with the error: {answer['error']}"
        if not isinstance(answer.get("opened"), str) or not answer["opened"]:
            return f'found {json.dumps(answer)}, wanted {{"opened": "a name"}}'
        return ""

    def ask(self, **request: Any) -> Answer:
        """Send one request and return its answer; empty where none came."""
        return self.ask_all([request]).get(self._sent, {})

    def ask_all(self, requests: Sequence[Mapping[str, Any]]) -> dict[int, Answer]:
        """Send requests at once; return the answers by id. Ids that we never sent are strange."""
        first, longest = self._sent + 1, 0
        for request in requests:
            self._sent += 1
            given = {"deadline_ms": DEADLINE_MS, **request}
            longest = max(longest, int(given["deadline_ms"]))
            self._send(id=self._sent, **given)
        answers: dict[int, Answer] = {}
        until = time.monotonic() + longest / 1000 + LATE_S
        while len(answers) < len(requests) and (left := until - time.monotonic()) > 0:
            answer = self._next(left)
            if answer is None:
                break
            if not isinstance(answer.get("code", ""), str | int | float | None):
                code = json.dumps(answer["code"])[:80]
                self.strange.append(f"the code {code}, wanted a text or a number")
            if _id_of(answer) in answers or not first <= _id_of(answer) <= self._sent:
                self.strange.append(f"an answer for id {answer.get('id')} that is not awaited")
                continue
            answers[_id_of(answer)] = answer
        return answers

    def closed(self) -> str:
        """Send `close`; return what is wrong with how the client ends."""
        self._send(do="close")
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            code = self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            return f"it was still running {CLOSE_S:g} s after `close` and the end of stdin"
        return "" if code == 0 else f"it ended with exit code {code}, wanted 0"

    def _send(self, **request: Any) -> None:
        if self._process.stdin:
            with suppress(OSError):  # a client that ended gives no answer
                self._process.stdin.write(json.dumps(request) + "\n")

    def _next(self, within_s: float) -> Answer | None:
        until = time.monotonic() + within_s
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                return None
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                self.strange.append(f"a line that is not JSON: {line.strip()[:80]}")
                continue
            if isinstance(answer, Mapping):
                return answer
            self.strange.append(f"a line that is not an object: {line.strip()[:80]}")

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)


def check(client: Conversation, end: bool = True, once: bool = False) -> Iterator[Rule]:
    """Yield each rule once it was tried; without a database that answers, most are broken.

    With `once` it has no conditional writes, and the rules about those are left out.
    """
    problem = client.opened()
    yield Rule("it opens", problem)
    if problem:
        return
    key = f"check:{secrets.token_hex(8)}"
    yield Rule("a key that was never written is null", _is(client.ask(do="read", key=key), "ok"))
    making = _write(key, 1) if once else _write(key, 1, expect={"missing": True})
    first = client.ask(**making)
    yield Rule("a write to a new key makes it", _is(first, "ok", read=False))
    yield Rule("what was written is read back", _is(client.ask(do="read", key=key), "ok", _text(1)))
    if not once:
        yield from _conditions(client, key)
    plain = client.ask(**_write(key, 9))
    yield Rule("a write without a condition always takes effect", _is(plain, "ok", read=False))
    yield Rule("each of many simultaneous requests is answered", _together(client, key))
    yield Rule("a request with a short deadline is answered", _soon(client, key))
    if end:
        yield from ended(client)


def _conditions(client: Conversation, key: str) -> Iterator[Rule]:
    """Yield the rules of conditional writes; the key's first write is stored."""
    same = client.ask(**_write(key, 2, expect={"first": 1, "last": 1}))
    yield Rule("a write whose condition holds takes effect", _is(same, "ok", read=False))
    stale = client.ask(**_write(key, 3, expect={"first": 1, "last": 1}))
    yield Rule("a write that expects another sequence is refused", _is(stale, "refused", _text(2)))
    again = client.ask(**_write(key, 3, expect={"missing": True}))
    yield Rule("a write that expects nothing is refused", _is(again, "refused", _text(2)))
    gone = client.ask(**_write(f"{key}:gone", 2, expect={"first": 1, "last": 1}))
    yield Rule("a write that expects a record is refused without one", _is(gone, "refused"))
    stranger = client.ask(**_write(key, 3, expect={"first": 2, "last": 2}, writer="another"))
    yield Rule("a write of another writer is refused", _is(stranger, "refused", _text(2)))


def ended(client: Conversation) -> Iterator[Rule]:
    """Yield the rules of the end, and whether it said what it was not asked for."""
    yield Rule("it ends when it is told to", client.closed())
    strange = list(dict.fromkeys(client.strange))
    more = f"; and {len(strange) - 2} more" if len(strange) > 2 else ""
    yield Rule("it says nothing else on stdout", "; ".join(strange[:2]) + more)


def check_hanging(
    client: Conversation, hang: Callable[[], object], resume: Callable[[], object]
) -> Iterator[Rule]:
    """Yield whether a write is in doubt whose server hangs: it may take effect at any time."""
    prefix = f"check:{secrets.token_hex(8)}"
    keys = [f"{prefix}:{n}" for n in range(HANGING_KEYS)]
    client.ask_all([_write(key, 1) for key in keys])
    hang()
    try:
        for key in keys:
            began = time.monotonic()
            answer = client.ask(**_write(key, 2), deadline_ms=HANGING_MS)
            took = time.monotonic() - began
            if answer.get("end") != "ok":
                break
    finally:
        resume()
    until, read = time.monotonic() + LATE_S, client.ask(do="read", key=key)
    while read.get("end") != "ok" and time.monotonic() < until:
        time.sleep(0.2)
        read = client.ask(do="read", key=key)
    yield Rule("a write whose server hangs is in doubt", _in_doubt(answer, read.get("value")))
    late = took - HANGING_MS / 1000
    slow = f"it took {late:.1f} s longer than its deadline" if late > 1.0 else ""
    yield Rule("it answers by the deadline", slow)
    end = read.get("end") or "no answer"
    missing = f"a read {LATE_S:g} s after the server was back ended as {end}"
    yield Rule("it serves again when the server is back", "" if end == "ok" else missing)


def _in_doubt(answer: Answer, stored: str | None) -> str:
    """Say what is wrong with the answer to a write whose server hung; `stored` is read later."""
    end = answer.get("end")
    if end == "in_doubt":
        return ""
    if end == "ok":
        return f"found ok for each of {HANGING_KEYS} keys, wanted in_doubt for one"
    if end != "failed" or answer.get("cause") not in UNSENT:
        return f"found {end or 'no answer'}, wanted in_doubt: it was sent"
    return "found failed, but it took effect" if stored == _text(2) else ""


def _write(key: str, sequence: int, writer: str = "check", **more: Any) -> dict[str, Any]:
    value = _text(sequence, writer)
    return {"do": "write", "key": key, "writer": writer, "sequence": sequence, "value": value,
            **more}  # fmt: skip


def _text(sequence: int, writer: str = "check") -> str:
    return f"{writer} {sequence} 00000000 AAAA+/=="


def _is(answer: Answer, end: str, value: str | None = None, read: bool = True) -> str:
    """Say how an answer differs from what it has to be; nothing if it does not."""
    if not answer:
        return "no answer came"
    wanted: dict[str, Any] = {"end": end} | ({"value": value} if read else {})
    if all(answer.get(name) == value for name, value in wanted.items()):
        return ""
    return f"found {_shown(answer, *wanted)}, wanted {json.dumps(wanted)}"


def _shown(answer: Answer, *names: str) -> str:
    """Show these parts of an answer, and the client's reason where it gave one."""
    reasons = {name: answer[name] for name in ("cause", "code") if answer.get(name)}
    return json.dumps({name: answer.get(name) for name in names} | reasons)


def _together(client: Conversation, key: str) -> str:
    requests = [
        {"do": "read", "key": key} if n % 2 else _write(f"{key}:{n}", 1) for n in range(AT_ONCE)
    ]
    answers = client.ask_all(requests)
    if len(answers) < AT_ONCE:
        return f"found {len(answers)} answers to {AT_ONCE} requests"
    bad = Counter(_shown(each, "end") for each in answers.values() if each.get("end") != "ok")
    most = ", ".join(f"{count} times {shown}" for shown, count in bad.most_common(3))
    return f'found {most}, wanted {{"end": "ok"}} for all {AT_ONCE}' if bad else ""


def _soon(client: Conversation, key: str) -> str:
    answer = client.ask(do="read", key=key, deadline_ms=SOON_MS)
    if answer.get("end") in ENDS:
        return ""
    return f"found {answer.get('end') or 'no answer'}, wanted one of {', '.join(ENDS)}"


def _id_of(answer: Answer) -> int:
    value = answer.get("id")
    return value if type(value) is int else -1  # `True` is not an id
