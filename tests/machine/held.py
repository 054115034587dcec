"""A script that is held before one of its commands, so that something else can come first."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.waiting import await_true

from brownout.machine.commands import Completed, LocalRunner


@contextmanager
def held_before(
    command: str, when: str, act: Callable[[], Any], place: Path
) -> Iterator[Future[Any]]:
    """Run `act` in a thread until its script is at `command` with the first argument `when`.

    It continues when the context is left; the future has its outcome.
    """
    there, go = place / "there", place / "go"
    own: list[int] = []
    run = LocalRunner.run
    holding = f"""{command}() {{
  if [ "$1" = "{when}" ]; then
    : > "{there}"; until [ -e "{go}" ]; do sleep 0.01; done
  fi
  command {command} "$@"
}}
"""

    def held(runner: LocalRunner, text: str, timeout_s: float = 30.0) -> Completed:
        mine = threading.get_ident() in own
        return run(runner, holding + text if mine else text, timeout_s)

    def acting() -> Any:
        own.append(threading.get_ident())
        return act()

    with patch.object(LocalRunner, "run", held), ThreadPoolExecutor(1) as pool:
        future = pool.submit(acting)
        try:
            await_true(lambda: there.exists() or future.done())
            assert not future.done(), "it never came to it"
            yield future
        finally:
            go.touch()
