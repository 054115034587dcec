"""Scripts of ours: what they get, what they say, and how they end."""

import pytest
from tests.exhausted import no_file_left

from brownout.base.errors import HostError
from brownout.machine.commands import Answer, Completed, LocalRunner, answer, last_words, script


def _run(body: str, *arguments: object) -> Completed:
    return LocalRunner().run(script(body, *arguments))


def test_arguments_arrive_whole_whatever_is_in_them() -> None:
    odd = ["", "a b", "$HOME", "it's", '"', "`id`", "line\nbreak", "-n", "ü"]

    done = _run('for word; do printf "<%s>" "$word"; done', *odd)

    assert done.output == "".join(f"<{word}>" for word in odd)


def test_a_command_in_a_script_cannot_eat_the_rest_of_it() -> None:
    assert _run("cat; echo after").output == "after\n"


def test_the_status_of_the_body_is_that_of_the_script() -> None:
    assert _run("return 7").status == 7


def test_bytes_that_are_no_text_survive() -> None:
    assert _run("printf '\\377'").output.encode(errors="surrogateescape") == b"\xff"


def test_lines_are_names_and_values() -> None:
    said = answer(_run('echo "pid 4711"; echo user 1; echo user 2; echo; echo odd'), "x", "y")

    assert said.number("pid") == 4711
    assert said.all("user") == ["1", "2"]
    assert (said.get("odd"), said.get("none", "?"), said.number("none")) == ("", "?", None)


def test_a_failed_script_says_what_where_and_its_last_words() -> None:
    done = _run("echo one >&2; echo two >&2; return 4")

    with pytest.raises(HostError, match=r"looking failed on db1 \(status 4\): one \| two"):
        answer(done, "looking", "db1")


def test_a_script_that_does_not_end_is_given_up() -> None:
    with pytest.raises(HostError, match=r"did not end within 0\.1 s on this machine"):
        LocalRunner().run(script("sleep 3"), timeout_s=0.1)


def test_a_script_that_cannot_be_started_is_an_error_of_its_host() -> None:
    with no_file_left(), pytest.raises(HostError, match=r"started on this machine: Too many open"):
        _run("true")


def test_last_words_are_short() -> None:
    assert last_words("a\n\n b \nc\nd\n") == "b | c | d"
    assert Answer(()).all("x") == []
