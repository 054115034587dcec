"""A volume of the device mapper delays what it reads and writes, and has its own table again.

What needs a volume runs in user-mode Linux, whose kernel has the device mapper and its `delay`.
"""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import uml

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import volume_slow
from brownout.machine.commands import Answer
from brownout.machine.host import host_for
from brownout.machine.volume_slow import Volume

_MIB = 1 << 20
PLAIN = Volume("253:0", "vg-db", ("0 8 linear 8:16 2048",), (), "1 Active Live Writeable")


def delayed(table: str, reads: int, writes: int) -> tuple[int, str]:
    """What the script makes of a table, and how that ended."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'{volume_slow.DELAYED}\ndelayed "$@"', "sh", str(reads), str(writes)],
        input=table, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_each_segment_is_delayed_where_it_is() -> None:
    table = "0 32768 linear 8:16 2048\n32768 98304 linear 8:32 0\n"
    assert delayed(table, 5, 50) == (
        0,
        "0 32768 delay 8:16 2048 5 8:16 2048 50\n32768 98304 delay 8:32 0 5 8:32 0 50\n",
    )


@pytest.mark.parametrize(
    "table",
    [
        "",
        "0 8 striped 2 128 8:16 0 8:32 0\n",
        "0 8 linear 8:16 2048\n8 8 crypt aes-xts-plain64 :64:logon:x 0 8:16 0\n",
        "0 8 delay 8:16 2048 50\n",
        "0 8 snapshot-origin 253:3\n",
        "0 8 linear 8:16 2048 $(reboot)\n",
    ],
)
def test_no_table_is_made_of_what_is_not_linear(table: str) -> None:
    assert delayed(table, 5, 50)[0] != 0


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1))
def test_a_volume_is_read_whatever_its_name_is(name: str) -> None:
    lines = (
        ("volume", f"253:7 {name}"),
        ("segment", "253:7 0 8 linear 8:16 0"),
        ("segment", "253:70 0 8 crypt"),
        ("state", "253:7 1 Active Live Writeable"),
    )
    (volume,) = volume_slow.volumes(Answer(lines))
    assert (volume.name, volume.table) == (name, ("0 8 linear 8:16 0",))
    assert list(volume.objections()) == []


@pytest.mark.parametrize(
    ("table", "holders", "state", "why"),
    [
        (PLAIN.table, (), PLAIN.state, ""),
        (("0 8 striped 2 128 8:16 0 8:32 0",), (), PLAIN.state, "type striped"),
        (("0 8 linear 8:16 0", "8 8 thin 253:4 1"), (), PLAIN.state, "type thin"),
        (("0 8 crypt aes :64:logon:x 0 8:16 0",), (), PLAIN.state, "type crypt"),
        (PLAIN.table, ("dm-4",), PLAIN.state, "other devices on it: dm-4"),
        (PLAIN.table, (), "2 Active Live Writeable", "is open 2 times"),
        (PLAIN.table, (), "1 Suspended Live Writeable", "is Suspended Live Writeable"),
        (PLAIN.table, (), "1 Active Both Writeable", "is Active Both Writeable"),
    ],
)
def test_what_speaks_against_a_new_table_is_said(
    table: tuple[str, ...], holders: tuple[str, ...], state: str, why: str
) -> None:
    objections = list(Volume("253:0", "vg-db", table, holders, state).objections())
    assert [why in each for each in objections] == ([True] if why else [])


@pytest.mark.parametrize(("read_ms", "write_ms"), [(-1, 0), (0, 1e9), (0.5, 1)])
def test_what_the_kernel_cannot_delay_is_refused(read_ms: float, write_ms: float) -> None:
    with pytest.raises(ConfigurationError, match="_ms"):
        volume_slow.check_size(read_ms, write_ms)


def test_a_kernel_without_a_device_mapper_is_told_from_one_that_has_it(tmp_path: Path) -> None:
    spec = ProcessSpec(pid_file=tmp_path / "pid", command=("true",))
    node = Node(name="n1", address="127.0.0.1:1", host=spec)
    has_it = " device-mapper\n" in Path("/proc/misc").read_text()
    assert ("device mapper" in volume_slow.why_not(node, host_for(node))) != has_it


#: Writes 4 KiB and waits for the disk, again and again, and says for how long, in ms.
_WRITES = """
import os, sys, time
file = os.open("/run/data/data/file", os.O_RDWR | os.O_CREAT)
while True:
    began = time.monotonic()
    os.pwrite(file, os.urandom(4096), 0)
    os.fsync(file)
    with open("/run/took", "a") as took:
        took.write(f"{(time.monotonic() - began) * 1000:.1f}\\n")
    time.sleep(0.02)
"""
_BEGIN = "0 32768 linear 98:0 0\n32768 98304 linear 98:0 32768\n"
#: A node whose data lie on a volume of two segments. `table()` is its live one.
_NODE = f"""
import json, os, statistics, subprocess, sys, time
from pathlib import Path
from brownout.base.errors import BrownoutError
from brownout.faults.volume_slow import UnslowVolume
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import volume_slow
from brownout.machine.host import host_for

def sh(text):
    done = subprocess.run(text, shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(text + ": " + done.stderr)
    return done.stdout

def module(name):
    sh("{{busybox}} insmod {{modules}}/kernel/drivers/md/" + name + ".ko")

data, pid_file, seen = [Path("/run/data/data")], Path("/run/pid"), {{}}
command = (sys.executable, "-c", {_WRITES!r})
spec = ProcessSpec(pid_file=pid_file, command=command)
node = Node(name="slowed", address="127.0.0.1:1", host=spec)
host = host_for(node)
sh("umount /run/data")
seen["no device mapper"] = volume_slow.why_not(node, host)
module("dm-mod")
seen["no delay"] = volume_slow.why_not(node, host)
module("dm-delay")
seen["why_not"] = volume_slow.why_not(node, host)
begin = {_BEGIN!r}
sh(f"printf '{{begin}}' | dmsetup create 'we \\"ird'")
sh("mount /dev/dm-0 /run/data")
data[0].mkdir()
ahead = Path("/sys/block/dm-0/queue/read_ahead_kb")
ahead.write_text("512")
at = "--major 254 --minor 0"

def table():
    return sh(f"dmsetup table {{at}}")

def swapped(text):
    sh(f"printf '{{text}}' | dmsetup load {{at}} && dmsetup resume {{at}}")

def took():
    Path("/run/took").write_text("")
    await_true(lambda: len(Path("/run/took").read_text().splitlines()) > 5)
    return statistics.median(map(float, Path("/run/took").read_text().split()))

def await_true(condition, within_s=60):
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(str(seen))
        time.sleep(0.1)

def left():
    marked = sh("grep -la brownout-undo-volume /proc/[0-9]*/cmdline || true").split()
    ours = [each for each in marked if Path(each).exists() and "grep" not in Path(each).read_text()]
    return [str(each) for each in Path("/run").glob("brownout-slowed*")] + ours

process = subprocess.Popen(command)
pid_file.write_text(str(process.pid))
"""
_SLOWED = (
    _NODE
    + """
seen["before"] = took()
proof = volume_slow.slow(node, host, data, 20, 50, [], 100)
seen["evidence"], seen["during"] = proof.evidence, took()
seen["left"], seen["table"] = volume_slow.left_on(node, host), table()
seen["undone"], seen["after"] = volume_slow.undo_on(node, host).evidence, took()
seen["end"], seen["ahead"], seen["over"] = table(), ahead.read_text(), left()
print("\\n" + json.dumps(seen))
"""
)
#: Programs that are not about who else uses the volume need not ask, which takes most of the time.
_ALONE = (
    _NODE
    + """
from brownout.machine import own_disk

disk = own_disk.FileSystem(os.stat("/run/data").st_dev, Path("/run/data"), "ext4")
own_disk.checked = lambda *words: [disk]
"""
)
_CONTROL = (
    _ALONE
    + """
proof = volume_slow.slow(node, host, data, 0, 0, [], 100)
seen["took"], seen["table"] = took(), table()
seen["in place"] = UnslowVolume().is_in_place(node, host, proof.evidence)
seen["again"] = volume_slow.slow(node, host, data, 0, 0, [], 100).already
seen["killed"] = host.stop("kill").evidence["released"]
seen["not in place"] = UnslowVolume().is_in_place(node, host, proof.evidence)
seen["undone"] = volume_slow.undo_on(node, host).already
seen["end"], seen["over"] = table(), left()
print("\\n" + json.dumps(seen))
"""
)


@pytest.mark.live
@pytest.mark.timeout(600)
def test_what_a_node_makes_safe_takes_so_much_longer_and_then_no_more(tmp_path: Path) -> None:
    seen = uml.run_alone("slow volumes", tmp_path, _SLOWED)
    assert "no device mapper" in seen["no device mapper"]
    assert "no delay target" in seen["no delay"]
    assert seen["why_not"] == ""
    assert seen["during"] > 50 > max(seen["before"], seen["after"])
    assert min(seen["evidence"]["read_took_ms"]) >= 10
    assert min(seen["evidence"]["flush_took_ms"]) >= 40
    (name,) = seen["evidence"]["volumes"]
    assert "254:0" in name
    assert seen["left"] == f"volume {name}: {volume_slow.in_words(20, 50)}"
    assert seen["table"] == delayed(_BEGIN, 20, 50)[1]
    assert seen["undone"]["tables"] == [f"254:0 {line}" for line in _BEGIN.splitlines()]
    assert (seen["end"], seen["ahead"], seen["over"]) == (_BEGIN, "512\n", [])


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_delay_of_nothing_is_a_control_and_a_kill_ends_it_first(tmp_path: Path) -> None:
    seen = uml.run_alone("slow volumes", tmp_path, _CONTROL)
    assert seen["took"] < 50
    assert seen["table"] == delayed(_BEGIN, 0, 0)[1]
    assert (seen["in place"], seen["not in place"]) == (True, False)
    assert (seen["again"], seen["undone"]) == (True, True)
    (killed,) = seen["killed"]
    assert volume_slow.in_words(0, 0) in killed
    assert (seen["end"], seen["over"]) == (_BEGIN, [])


#: Kills the script that calls it, where the file `kill` names this call, or waits while the file
#: `wait` does.
_CALLS = """#!/bin/sh
word=${0##*/}
real=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "$word")
[ "$word" != dmsetup ] || word=$1
hook() {
  while [ "$(cat /run/wait 2>/dev/null)" = "$1 $word" ]; do touch /run/waits; sleep 0.1; done
  [ "$(cat /run/kill 2>/dev/null)" = "$1 $word" ] || return 0
  rm /run/kill
  up=$PPID callers=
  while [ "$(cat /proc/$up/comm)" = sh ]; do
    callers="$callers $up"; up=$(sed -n "s/^PPid:.//p" /proc/$up/status)
  done
  kill -9 $callers
}
hook before
"$real" "$@"
status=$?
hook after
exit $status
"""
_KILLED = (
    _ALONE
    + f"""
import threading

calls = Path("/run/bin")
calls.mkdir()
for name in ("mv", "dmsetup", "dd", "sync"):
    (calls / name).write_text({_CALLS!r})
    (calls / name).chmod(0o755)
os.environ["PATH"] = f"{{calls}}:{{os.environ['PATH']}}"
kill, wait = Path("/run/kill"), Path("/run/wait")

def slow(limit_s=100):
    return volume_slow.slow(node, host, data, 0, 30, [], limit_s)

def killed_at(moment, act):
    kill.write_text(moment)
    try:
        act()
    except BrownoutError:
        return not kill.exists()
    return False

def whole():
    took()
    suspended = Path("/sys/block/dm-0/dm/suspended").read_text().strip()
    loaded = sh(f"dmsetup table --inactive {{at}}").strip()
    return [table() == begin, loaded, suspended, ahead.read_text().strip(), left()]

"""
)
_EACH_STEP = (
    _KILLED
    + """
for moment in moments:
    hit = killed_at(moment, lambda: slow(30 if how == "switch" else 100))
    if how == "suspended":
        sh(f"dmsetup suspend --nolockfs {at}")
    if how == "switch":
        await_true(lambda: left() == [])
    else:
        volume_slow.undo_on(node, host)
    seen[moment] = [hit, *whole()]
print("\\n" + json.dumps(seen))
"""
)
_UNDO_KILLED = (
    _KILLED
    + """
for moment in moments:
    slow()
    hit = killed_at(moment, lambda: volume_slow.undo_on(node, host))
    volume_slow.undo_on(node, host)
    seen[moment] = [hit, *whole()]
print("\\n" + json.dumps(seen))
"""
)
_MEANWHILE = (
    _KILLED
    + """
for moment in moments:
    wait.write_text(moment)
    slowing = threading.Thread(target=killed_at, args=("never", slow))
    slowing.start()
    await_true(Path("/run/waits").exists)
    undoing = threading.Thread(target=volume_slow.undo_on, args=(node, host))
    undoing.start()
    undoing.join(1 if moment != "before mv" else 60)
    wait.unlink(), Path("/run/waits").unlink()
    slowing.join(), undoing.join()
    seen[moment] = [True, *whole()]
print("\\n" + json.dumps(seen))
"""
)
_OTHERS = (
    _KILLED
    + """
slow()
theirs = "0 131072 linear 98:0 0\\n"
swapped(theirs)
seen["words"] = volume_slow.left_on(node, host)
volume_slow.undo_on(node, host)
seen["theirs"] = [table(), left()]
swapped(begin), ahead.write_text("512")
slow()
switch = volume_slow.slow(node, host, data, 0, 40, [], 100).evidence["undo_pid"]
seen["second"] = volume_slow.left_on(node, host)
os.killpg(switch, 9)
volume_slow.undo_on(node, host)
seen["without its switch"] = [True, *whole()]
print("\\n" + json.dumps(seen))
"""
)
_WHOLE = [True, True, "", "0", "512", []]
_STEPS = ("before mv", "after mv", "before load", "after load", "before resume", "after resume")


@pytest.mark.matrix
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("program", "how", "moments"),
    [
        (_EACH_STEP, "heal", (*_STEPS, "before dd", "after sync")),
        (_EACH_STEP, "suspended", ("before load", "after load", "after resume")),
        (_EACH_STEP, "switch", ("before mv", "after mv", "after load", "after resume")),
        (_UNDO_KILLED, "heal", ("before load", "after load", "before resume", "after resume")),
        (_MEANWHILE, "heal", ("before mv", "before load", "before resume")),
    ],
    ids=["healed", "suspended too", "by its switch", "undo killed", "undone meanwhile"],
)
def test_killed_at_any_step_the_volume_gets_its_own_table(
    tmp_path: Path, program: str, how: str, moments: tuple[str, ...]
) -> None:
    program = program.replace("for moment in moments", f"how = {how!r}\nfor moment in {moments!r}")
    seen = uml.run_alone("slow volumes", tmp_path, program, within_s=1000)
    assert {moment: seen[moment] for moment in moments} == dict.fromkeys(moments, _WHOLE)


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_table_of_others_is_left_alone_and_a_second_delay_replaces_the_first(
    tmp_path: Path,
) -> None:
    seen = uml.run_alone("slow volumes", tmp_path, _OTHERS)
    assert "not slowed" in seen["words"]
    assert seen["theirs"] == ["0 131072 linear 98:0 0\n", []]
    assert "40 ms" in seen["second"]
    assert seen["without its switch"] == _WHOLE


_REFUSED = (
    _NODE
    + """
def refused():
    try:
        volume_slow.slow(node, host, data, 0, 30, [], 100)
    except BrownoutError as error:
        return [type(error).__name__, str(error), table() == now, left()]

now = begin
opened = os.open("/dev/dm-0", os.O_RDONLY)
seen["open 2 times"] = refused()
os.close(opened)
other = open("/run/data/theirs", "w")
seen[f"in use by process {os.getpid()}"] = refused()
other.close()
os.mkdir("/run/view")
sh("mount /dev/dm-0 /run/view")
seen["can be seen at"] = refused()
sh("umount /run/view")
sh(f"printf '{begin}' | dmsetup load {at}")
seen["Active Both"] = refused()
sh(f"dmsetup clear {at}")
swapped("0 131072 striped 1 128 98:0 0")
now = table()
seen["type striped"] = refused()
now = begin
swapped(begin)
process.kill(), process.wait()
seen["not running"] = refused()
print("\\n" + json.dumps(seen))
"""
)


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_volume_that_others_use_or_that_is_not_linear_is_not_touched(tmp_path: Path) -> None:
    seen = uml.run_alone("slow volumes", tmp_path, _REFUSED)
    whys = [why for why, answer in seen.items() if isinstance(answer, list)]
    assert len(whys) == 6
    for why in whys:
        kind, words, untouched, left = seen[why]
        assert kind == ("Denied" if why == "not running" else "Refused")
        assert why in words
        assert (untouched, left) == (True, [])
