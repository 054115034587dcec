"""What one sentinel says, from answers as Redis 7.0.15 gave them."""

from brownout.databases.redis.link import CommandFailed, Reply
from brownout.databases.redis.sentinel.watch import Seen, node_at, watch

#: Recorded from a lab, shortened to what is read and some of the rest.
MASTER: list[Reply] = [
    *("name", "lab", "ip", "127.0.0.1", "port", "23431", "runid", "5a1e", "flags", "master"),
    *("num-slaves", "1", "num-other-sentinels", "2", "quorum", "2"),
    *("config-epoch", "3", "down-after-milliseconds", "1500", "failover-timeout", "10000"),
]
REPLICA: list[Reply] = [
    *("name", "127.0.0.1:20371", "ip", "127.0.0.1", "port", "20371", "runid", "77c0"),
    *("flags", "s_down,slave,disconnected", "master-link-status", "err"),
]
OTHER: list[Reply] = ["name", "9f", "ip", "127.0.0.1", "port", "22218", "flags", "sentinel"]


class Sentinel:
    """Answers as a sentinel does."""

    def __init__(self, quorum: str) -> None:
        self._quorum = quorum

    def ask_all(self, commands: list[tuple[str, ...]]) -> list[Reply]:
        answers: dict[str, Reply] = {"MASTER": MASTER, "REPLICAS": [REPLICA], "SENTINELS": [OTHER]}
        return [answers[words[1]] for words in commands]

    def ask(self, *words: str) -> Reply:
        if self._quorum.startswith("NOQUORUM"):
            raise CommandFailed(self._quorum, self._quorum)
        return self._quorum


def test_it_says_who_is_master_who_is_down_and_who_else_watches() -> None:
    it = watch(node_at("127.0.0.1:26379"), Sentinel("OK 3 usable Sentinels."), "lab")  # type: ignore[arg-type]
    assert it.master == Seen("127.0.0.1:23431", "5a1e", False)
    assert it.replicas == (Seen("127.0.0.1:20371", "77c0", True),)
    assert it.sentinels == ("127.0.0.1:22218",)
    assert (it.epoch, it.down_after_s, it.objection) == (3, 1.5, "")


def test_it_says_where_the_sentinels_could_not_agree() -> None:
    reply = "NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the majority"
    it = watch(node_at("127.0.0.1:26379"), Sentinel(reply), "lab")  # type: ignore[arg-type]
    assert it.objection.startswith("1 usable Sentinels")
    assert it.evidence()["objection"] == it.objection
