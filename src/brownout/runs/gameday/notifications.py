"""Telling people, by Apprise: a webhook, Slack, e-mail and what else it knows.

A message that cannot be sent never holds the game day up: it is sent from a thread of its own,
tried three times, and that it failed is said and written down.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from apprise import Apprise, AppriseAsset, NotifyFormat, NotifyType
from tenacity import RetryError, Retrying, retry_if_result, stop_after_attempt, wait_fixed

from brownout.base.redact import redact
from brownout.runs.gameday.messages import Message, Severity
from brownout.runs.gameday.spec import Notify

__all__ = ["Herald", "unusable"]

TRIES = 3
BETWEEN_S = 1.0

#: What a channel makes its colour, icon or field `type` of.
_TYPES: dict[Severity, NotifyType] = {
    "info": NotifyType.INFO,
    "warning": NotifyType.WARNING,
    "failure": NotifyType.FAILURE,
}

_words = logging.getLogger("apprise")


class Herald:
    """Tells people; `note` gets a sentence for each message that could not be sent."""

    def __init__(self, people: Sequence[Notify], note: Callable[[str], None]) -> None:
        self._people, self._note = people, note
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="messages")

    def tell(self, message: Message) -> None:
        """Send it to all who want to hear of what it is about; returns at once."""
        for person in self._people:
            if message.about in person.about:
                self._sender.submit(self._send, person, message)

    def close(self) -> None:
        """Wait until every message is sent or has failed."""
        self._sender.shutdown(wait=True)

    def _send(self, person: Notify, message: Message) -> None:
        title = message.title
        heard = _Heard()
        _words.addHandler(heard)
        try:
            tries = Retrying(
                stop=stop_after_attempt(TRIES),
                wait=wait_fixed(BETWEEN_S),
                retry=retry_if_result(lambda sent: not sent),
            )
            tries(lambda: _notify(person, message))
        except RetryError:
            why = redact(heard.last, _secrets_of(person)) or "no reason given"
            self._note(f"`{person.name}` was not told «{title}» in {TRIES} tries: {why}")
        except Exception as error:  # a fault of a plug-in must not be one of the game day
            why = redact(str(error), _secrets_of(person))
            self._note(f"`{person.name}` was not told «{title}»: {why}")
        finally:
            _words.removeHandler(heard)


def unusable(people: Sequence[Notify]) -> list[str]:
    """Name each address that Apprise cannot use; nothing is sent."""
    return [
        f"notify[{index}].url: found what Apprise does not know (not shown), wanted one of its "
        "URLs, as json://…, slack://… or mailto://…"
        for index, person in enumerate(people)
        if not Apprise().add(person.url.get_secret_value())
    ]


def _notify(person: Notify, message: Message) -> bool:
    caller = Apprise(asset=AppriseAsset(app_id="brownout"))
    caller.add(person.url.get_secret_value())
    sent = caller.notify(
        title=message.title,
        body=message.body or message.title,
        notify_type=_TYPES[message.severity],
        body_format=NotifyFormat.TEXT,
    )
    return bool(sent)


def _secrets_of(person: Notify) -> list[str]:
    """Return all of the address that may be secret: the whole, its user, and its path's parts."""
    url = person.url.get_secret_value()
    parts = urlsplit(url)
    inner = [*parts.netloc.rpartition("@")[0].split(":"), *parts.path.split("/"), parts.query]
    return [url, *(part for part in inner if len(part) > 3)]


class _Heard(logging.Handler):
    """Keeps the last warning of Apprise."""

    last = ""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
