"""One load by any number of generators, each a real process, against a server that is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.loadgen.driving import Server, specification, stream, verified
from tests.waiting import await_true

from brownout.load.group import AnyGenerator, driven_from
from brownout.load.place import Here

#: Of all operations 40 % fail for 1.2 s.
DIP_AT, DIP_S, DIP_SHARE = 1.5, 1.2, 0.4
SCRIPT = {
    "lanes": 2,
    "latency_ms": 1,
    "effects": [{"at": DIP_AT, "for": DIP_S, "effect": "error", "share": DIP_SHARE}],
}
SECONDS = 4.0
#: No multiple of the generators, and as hot for all: what they share out is not all even.
STREAMS = (
    stream(rate=300, keys={"distribution": "zipf"}),
    verified(rate=150, ledger_keys=101),
    verified("money", mix={"increment": 1}, rate=37, ledger_keys=11),
)


def begin(generator: AnyGenerator, server: Server, run: Path, **changes: Any) -> None:
    """Open, load and start."""
    generator.open(specification(server, run, *STREAMS, **changes))
    generator.load()
    generator.start()


def measured(directory: Path, generators: int) -> Path:
    """Run the load by so many generators, read its ledger back, and return the run directory."""
    run = directory / f"run-{generators}"
    lives: list[Mapping[str, Any]] = []
    with (
        Server(directory / f"server-{generators}", SCRIPT) as server,
        driven_from([Here()] * generators, run, lives.append) as generator,
    ):
        begin(generator, server, run)
        await_true(
            lambda: bool(lives) and float(lives[-1]["t"]) > SECONDS + 1.2, "the load is long"
        )
        assert generator.alive
        generator.stop()
        verified = generator.verify()
        assert verified == {**verified, "keys": 112, "read": 112, "unread": 0}
        live = generator.live.snapshot().completion
        assert len(live) > SECONDS * 10
        assert int(live.total("total", "offered").sum()) == sum(
            row[3] for event in lives for row in event["series"]
        )
    return run
