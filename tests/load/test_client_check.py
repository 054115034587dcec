"""`brownout client check` tells a client that keeps the rules from one that breaks one of them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import await_true, state_of

from brownout.base.binary import find_loadgen
from brownout.calibration.trial import scripted_server
from brownout.load.client_check import Conversation, Rule, check, check_hanging, ended

REFERENCE = Path(__file__).parents[2] / "infra" / "clients" / "reference"
CONNECTION = {"uri": "x://a:1", "username": "", "password": "", "tls": None}


def broken(command: list[str]) -> dict[str, str]:
    """The rules that a client breaks, with what is said of them."""
    with Conversation(command, CONNECTION, {}) as client:
        return {rule.name: rule.problem for rule in check(client) if rule.problem}


JAVA = ["java", str(REFERENCE / "Reference.java")]


@pytest.mark.parametrize("language", ["python", "node", "go", "java"])
def test_the_reference_clients_keep_every_rule(language: str, tmp_path: Path) -> None:
    commands = {
        "python": [sys.executable, str(REFERENCE / "reference.py")],
        "node": ["node", str(REFERENCE / "reference.mjs")],
        "go": [str(tmp_path / "reference")],
        "java": JAVA,
    }
    program = "go" if language == "go" else commands[language][0]
    if shutil.which(program) is None:
        pytest.skip(f"NOT TESTED: the reference client in {language}: there is no {program}")
    if language == "go":
        built = ["go", "build", "-o", commands["go"][0], str(REFERENCE / "reference.go")]
        subprocess.run(built, check=True, cwd=tmp_path)
    assert broken(commands[language]) == {}


@pytest.mark.skipif(shutil.which("java") is None, reason="NOT TESTED: java is not on PATH")
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_reference_client_in_java_reads_all_that_a_text_may_hold(ascii_only: bool) -> None:
    text = '"quoted" \\ / \t \b {}[],: null é \u2028 \x7f \U0001f600 ' + "\\" * 50_000
    key = {"key": 'a "key": {'}
    options = {"list": [1, [True, None, -1.5e3], {}], "object": {"key": "value"}}
    written = {"writer": "w", "sequence": 1, "value": text, "expect": {"missing": True}}
    asked = [
        {"do": "open", "connection": {"tls": None}, "options": options},
        {"do": "write", "id": 1, **key, **written},
        {"do": "read", "id": 2, **key},
        {"do": "close"},
    ]
    ran = subprocess.run(
        JAVA, input="".join(json.dumps(each, ensure_ascii=ascii_only) + "\n" for each in asked),
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, encoding="utf-8",
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert answers[1]["end"] == "ok"
    assert answers[2:] == [{"id": 2, "end": "ok", "value": text}]


def test_the_client_of_a_calibration_keeps_every_rule(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    with scripted_server(tmp_path, {"lanes": 2, "effects": []}, truth) as address:
        connection = {**CONNECTION, "uri": f"scripted://{address}"}
        with Conversation([str(find_loadgen()), "script-client"], connection, {}) as client:
            assert [rule for rule in check(client, once=True) if rule.problem] == []


#: What is changed in the reference client, and the rule that it breaks then.
SPOILT = {
    "a line beside the protocol": (
        "import json\nimport sys\n",
        "import json\nimport sys\nprint('hello')\n",
        "it says nothing else on stdout",
    ),
    "no condition": (
        "if not fits:",
        "if False:",
        "a write that expects another sequence is refused",
    ),
    "other writers": (
        'record[0] == request["writer"]',
        "True",
        "a write of another writer is refused",
    ),
    "the first answers only": (
        "    print(json.dumps(answer), flush=True)",
        "    if request.get('id', 0) < 100:\n        print(json.dumps(answer), flush=True)",
        "each of many simultaneous requests is answered",
    ),
    "another id": (
        '{"id": request["id"], **',
        '{"id": request["id"] // 2 + 900, **',
        "a key that was never written is null",
    ),
    "a lost value": (
        'request["value"]\n',
        '"garbled"\n',
        "what was written is read back",
    ),
    "no end": (
        "        break\n",
        "        import time; time.sleep(60)\n",
        "it ends when it is told to",
    ),
    "an error": (
        '{"opened": "reference in Python", "settings": {}}',
        '{"error": "no such table"}',
        "it opens",
    ),
}


#: What is put before each answer of the reference client, and the words that name it.
ODD = {
    "a list as an id": ('{"id": []}', "an answer for id []"),
    "an object as an id": ('{"id": {}}', "an answer for id {}"),
    "true as an id": ('{"id": true, "end": "ok"}', "an answer for id True"),
    "a text as an id": ('{"id": "1"}', "an answer for id 1"),
    "bytes that are not UTF-8": ("\\xff\\xfe", "a line that is not JSON"),
    "brackets without an end": ("[" * 5_000, "a line that is not JSON"),
}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not answered is waited for a moment only: not for a client that breaks no rule."""
    for name, seconds in (("LATE_S", 0.3), ("CLOSE_S", 1.0), ("DEADLINE_MS", 200)):
        monkeypatch.setattr(f"brownout.load.client_check.{name}", seconds)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("what", SPOILT)
def test_a_client_that_breaks_a_rule_is_told_which(what: str, tmp_path: Path) -> None:
    text = (REFERENCE / "reference.py").read_text()
    old, new, rule = SPOILT[what]
    assert text.count(old) == 1
    program = tmp_path / "client.py"
    program.write_text(text.replace(old, new))
    assert rule in broken([sys.executable, str(program)])


def test_requests_that_did_not_end_well_are_counted_by_what_the_client_said(tmp_path: Path) -> None:
    text = (REFERENCE / "reference.py").read_text()
    old = "    print(json.dumps(answer), flush=True)"
    assert text.count(old) == 1
    spoilt = (
        "    if request.get('key', '').endswith((':10', ':20', ':30')):\n"
        "        answer = {'id': request['id'], 'end': 'in_doubt', 'cause': 'connection-reset',"
        " 'code': 'E1'}\n"
        "    if request.get('key', '').endswith(':40'):\n"
        "        answer = {'id': request['id'], 'end': 'in_doubt'}\n"
    )
    program = tmp_path / "client.py"
    program.write_text(text.replace(old, spoilt + old))
    (problem,) = broken([sys.executable, str(program)]).values()
    reset = '{"end": "in_doubt", "cause": "connection-reset", "code": "E1"}'
    assert f'found 3 times {reset}, 1 times {{"end": "in_doubt"}}, wanted' in problem


@pytest.mark.parametrize("what", ODD)
def test_an_odd_line_is_named_and_does_not_end_the_check(what: str, tmp_path: Path) -> None:
    line, words = ODD[what]
    text = (REFERENCE / "reference.py").read_text()
    old = "    print(json.dumps(answer), flush=True)"
    assert text.count(old) == 1
    odd = (
        "    if 'id' in answer:\n"
        f"        sys.stdout.buffer.write(b'{line}\\n')\n"
        "        sys.stdout.flush()\n"
    )
    program = tmp_path / "client.py"
    program.write_text(text.replace(old, odd + old))
    rules = broken([sys.executable, str(program)])
    assert list(rules) == ["it says nothing else on stdout"]
    assert words in rules["it says nothing else on stdout"]


def test_the_processes_that_a_client_started_end_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = ["sh", "-c", f'sleep 600 & echo $! > {pid}; echo \'{{"opened": "x"}}\'; wait']
    with Conversation(command, CONNECTION, {}) as client:
        assert client.opened() == ""
    started = int(pid.read_text())
    await_true(
        lambda: state_of(started) in ("Z", "gone"), "the process that the client started ends"
    )


@pytest.mark.parametrize(
    ("code", "problem"), [("25006", ""), (189, ""), (["a"], "found"), ({}, "found")]
)
def test_a_code_is_a_text_or_a_number(code: object, problem: str, tmp_path: Path) -> None:
    text = (REFERENCE / "reference.py").read_text()
    old = "    print(json.dumps(answer), flush=True)"
    program = tmp_path / "client.py"
    program.write_text(text.replace(old, f"    answer['code'] = {code!r}\n{old}"))
    rules = broken([sys.executable, str(program)])
    assert bool(rules) == bool(problem)
    assert all("a text or a number" in each for each in rules.values())


HANGING = """
import json, sys, time, pathlib
flag, end = pathlib.Path(sys.argv[1]), sys.argv[2]
cause, takes_effect, shard = sys.argv[3], sys.argv[4] == "True", sys.argv[5]
stored = {}
for line in sys.stdin:
    r = json.loads(line)
    if r["do"] == "close":
        break
    a = {"opened": "x"} if r["do"] == "open" else {"id": r["id"], "end": "ok", "value": None}
    hangs = flag.exists() and r["do"] != "open" and r["key"].endswith(shard)
    if hangs:
        time.sleep(r["deadline_ms"] / 1000)
        a.update(end=end, cause=cause)
    if r["do"] == "write" and (not hangs or takes_effect):
        stored[r["key"]] = r["value"]
    if r["do"] == "read":
        a["value"] = stored.get(r["key"])
    print(json.dumps(a), flush=True)
"""


@pytest.mark.parametrize(
    ("end", "cause", "takes_effect", "shard", "problem"),
    [
        ("in_doubt", "", True, "", ""),
        ("in_doubt", "", False, "7", ""),  # the keys that end so are on the server that hangs
        ("failed", "client-timeout-total", False, "7", "found failed, wanted"),
        ("failed", "pool-exhausted", False, "", ""),
        ("failed", "pool-exhausted", True, "", "found failed, but it took effect"),
        ("ok", "", True, "no key", "found ok for each of"),
    ],
)
def test_a_write_whose_server_hangs_has_to_be_in_doubt_unless_it_was_not_sent(
    end: str,
    cause: str,
    takes_effect: bool,
    shard: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("brownout.load.client_check.HANGING_MS", 100)
    program, flag = tmp_path / "client.py", tmp_path / "hangs"
    program.write_text(HANGING)
    words = [str(flag), end, cause, str(takes_effect), shard]
    with Conversation([sys.executable, str(program), *words], CONNECTION, {}) as client:
        assert client.opened() == ""
        rules: list[Rule] = list(check_hanging(client, flag.touch, flag.unlink))
        rules += ended(client)
    assert rules[0].problem.startswith(problem)
    assert bool(rules[0].problem) == bool(problem)
    assert [rule.problem for rule in rules[1:]] == [""] * 4


def test_a_program_that_cannot_be_opened_breaks_the_first_rule() -> None:
    rules = broken([sys.executable, "-c", "pass"])
    assert list(rules) == ["it opens"]
    assert "or the client ended" in rules["it opens"]
