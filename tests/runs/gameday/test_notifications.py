"""People are told by a real webhook and a real mail server; what fails is said, never thrown."""

import socketserver
import threading
from collections.abc import Iterator

import pytest
from tests.runs.gameday.conftest import Hook
from tests.wording import mentions

from brownout.runs.gameday import notifications
from brownout.runs.gameday.messages import Message, Topic
from brownout.runs.gameday.notifications import Herald
from brownout.runs.gameday.spec import Notify

TITLE = "the day is over"


class Mail(socketserver.ThreadingTCPServer):
    """A mail server on loopback that takes every message; just enough of SMTP for a client."""

    daemon_threads = True

    def __init__(self) -> None:
        self.heard: list[str] = []
        super().__init__(("127.0.0.1", 0), Conversation)


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        while line := self.rfile.readline().decode().strip().upper():
            if line == "DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.heard.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            self.wfile.write(b"221 bye\r\n" if line == "QUIT" else b"250 ok\r\n")
            if line == "QUIT":
                return


@pytest.fixture
def mail() -> Iterator[Mail]:
    with Mail() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "BETWEEN_S", 0.0)


def person(monkeypatch: pytest.MonkeyPatch, url: str, *about: str) -> Notify:
    monkeypatch.setenv("PERSON", url)
    data = {"name": "ops", "url": {"env": "PERSON"}}
    return Notify.model_validate({**data, **({"about": about} if about else {})})


def tell(someone: Notify, about: Topic, title: str, body: str = "") -> list[str]:
    """Tell somebody something, and return what was noted of it."""
    noted: list[str] = []
    herald = Herald([someone], noted.append)
    herald.tell(Message(about, "warning", title, body))
    herald.close()
    return noted


def test_a_webhook_gets_title_and_text(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tell(person(monkeypatch, hook.url), "end", TITLE, "stepdown: pass") == []
    (message,) = hook.heard
    assert (message["title"], message["message"]) == (TITLE, "stepdown: pass")
    assert message["type"] == "warning"


def test_a_mail_is_sent(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    port = mail.server_address[1]
    url = (
        f"mailto://127.0.0.1:{port}/?smtp=127.0.0.1&mode=insecure"
        "&from=lab@example.com&to=ops@example.com"
    )
    assert tell(person(monkeypatch, url), "fail", "node-kill failed", "blackout 9 s") == []
    (message,) = mail.heard
    assert "Subject: node-kill failed" in message
    assert "ops@example.com" in message


def test_nobody_hears_of_what_is_not_wanted(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tell(person(monkeypatch, hook.url, "fail"), "begin", "begins") == []
    assert hook.heard == []


def test_a_webhook_that_refuses_is_noted_after_three_tries(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.status = 500
    (noted,) = tell(person(monkeypatch, hook.url), "end", TITLE)
    assert mentions(noted, "`ops`", TITLE, "3 tries")
    assert len(hook.heard) == 3


def test_a_note_of_a_broken_webhook_holds_no_part_of_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "json://someone:geheim@127.0.0.1:9/tokentoken?key=othersecret"
    (noted,) = tell(person(monkeypatch, url), "end", "over")
    for secret in ("geheim", "tokentoken", "othersecret"):
        assert secret not in noted
