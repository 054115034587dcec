"""A dead man's switch on the node: a paused process resumes by itself after a limit.

A pause that we cannot end, because our own way in is cut or we are gone, ends without us: a small
shell of its own session sleeps on the node and then sends SIGCONT, to the very same process and
to no other. It is found again by its command line and by nothing else, so there is no file of it
that could be left over:

    /bin/sh -c … brownout-undo-pause 4711 8812345 120
                                     pid  start    limit
"""

import re
from typing import Literal

from brownout.inventory.model import DEFAULT_UNDO_AFTER_S
from brownout.machine.commands import Runner, answer, script

__all__ = ["DEFAULT_UNDO_AFTER_S", "FUNCTIONS", "MARK", "armed", "disarm_all", "functions"]

MARK = "brownout-undo-pause"
#: What the marks of all switches look like.
_EVERY = "brownout-undo-[a-z-]*"

#: `$1` process, `$2` its start in ticks since boot, `$3` seconds. The start is checked only at the
#: end: an id that was given to another process meanwhile is not ours to touch.
_WAIT_AND_RESUME = """\
sleep "$3"
read -r stat < "/proc/$1/stat" || exit 0
stat=${stat##*) }; set -- "$1" "$2" $stat
[ "${22}" = "$2" ] && kill -CONT "$1"
"""


def functions(mark: str, undo: str) -> str:
    """Return shell functions for scripts that break what a switch called `mark` is to undo.

    `switches ONE TWO` prints the ids of those that are armed for what these two words name. What a
    switch has just forked has its command line too, so only leaders of a process group count.
    `arm ONE TWO SECONDS` starts one and `disarm IDS` ends these with all they started,
    and waits up to a second until they are gone. `still_armed ONE TWO` asks for the one that was
    started last: a script that breaks something asks at its end, since an undo may have come first,
    as after a time-out of ours, and nothing would undo it any more.

    `undo` gets the three words as `$1` to `$3`, waits `$3` seconds, checks that `$1` is still what
    `$2` says, and undoes. It has no single quote
    in it. Raises `ValueError` for a mark by which `disarm_all` would not find it.
    """
    if mark != _EVERY and not re.fullmatch(_EVERY, mark):
        raise ValueError(f"a switch is called {mark!r}, wanted {_EVERY}")
    return f"""\
switches() {{
  grep -ls -- {mark} /proc/[0-9]*/cmdline | while read -r line; do
    switch=${{line#/proc/}}; switch=${{switch%/cmdline}}
    tr '\\0' ' ' 2>/dev/null < "$line" | grep -q -- " {mark} $1 $2 [0-9.]* $" || continue
    read -r stat 2>/dev/null < "/proc/$switch/stat" || continue
    stat=${{stat##*) }}; group=${{stat#* * }}; group=${{group%% *}}
    [ "$group" = "$switch" ] && echo "$switch"
  done
}}
disarm() {{
  for group in $1; do kill -s TERM -- "-$group" 2>/dev/null; done
  for group in $1; do
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      grep -qs . "/proc/$group/cmdline" || break
      sleep 0.05
    done
  done
}}
arm() {{
  setsid /bin/sh -c '{undo}' {mark} "$1" "$2" "$3" </dev/null >/dev/null 2>&1 &
  switch=$!
  for try in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(switches "$1" "$2" | grep -cx "$switch")" = 1 ] && return 0
    kill -0 "$switch" 2>/dev/null || break
    sleep 0.05
  done
  echo "no dead man's switch could be started (is setsid of util-linux there?)" >&2
  return 1
}}
still_armed() {{
  [ "$(switches "$1" "$2" | grep -cx "$switch")" = 1 ] && return 0
  echo "it was undone before it was done" >&2
  return 1
}}
"""


#: Those of a pause: the words are its process and the start of that in ticks since boot.
FUNCTIONS = functions(MARK, _WAIT_AND_RESUME)

#: `$1` a kind of namespace. The switches, whatever they undo, that are in ours of that kind.
_ARMED = f"""\
{functions(_EVERY, ":")}
for each in $(switches "[^ ]*" "[^ ]*"); do
  [ "$(stat -L -c %i "/proc/$each/ns/$1")" = "$(stat -L -c %i "/proc/self/ns/$1")" ] || continue
  echo "switch $each"
done
"""


def armed(runner: Runner, kind: Literal["net", "mnt"]) -> list[str]:
    """Return the ids of all switches that share the namespace in which `runner` runs scripts."""
    done = runner.run(script(_ARMED, kind))
    return answer(done, "looking for dead man's switches", runner.where).all("switch")


def disarm_all(runner: Runner) -> None:
    """End every switch in the network namespace that `runner` runs scripts in."""
    if switches := armed(runner, "net"):
        text = f'{functions(_EVERY, ":")}disarm "$1"\n'
        answer(runner.run(script(text, " ".join(switches))), "ending switches", runner.where)
