"""A node's own configuration: its file, and the flags of its command."""

from pathlib import Path

import pytest

from brownout.base.errors import Refused
from brownout.databases.redis.settings import in_command, in_file, own_settings
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine.host import host_for


def test_a_file_is_a_name_and_a_value_a_line() -> None:
    said = in_file(
        '# dir /no\n\ndir "/var/lib/my redis"\nsave ""\nDBFILENAME a.rdb\nport 1\nport 2\n'
    )
    assert said == {"dir": "/var/lib/my redis", "save": "", "dbfilename": "a.rdb", "port": "2"}


def test_flags_of_a_command_have_any_number_of_words() -> None:
    said = in_command(["redis-server", "/etc/r.conf", "--save", "60", "1", "--dir", "/d", "--x"])
    assert said == {"save": "60 1", "dir": "/d", "x": ""}


def node(tmp_path: Path, *command: str, config: Path | None = None) -> Node:
    host = ProcessSpec(pid_file=tmp_path / "pid", command=command, config_file=config)
    return Node(name="n1", address="r1:1", host=host)


def test_flags_win_over_the_file_that_the_command_names(tmp_path: Path) -> None:
    file = tmp_path / "redis.conf"
    file.write_text("dir /a\nport 7\n")
    of = node(tmp_path, "redis-server", str(file), "--dir", "/b")
    assert own_settings(of, host_for(of)) == {"dir": "/b", "port": "7"}
    alone = node(tmp_path, "redis-server", config=file)
    assert own_settings(alone, host_for(alone))["dir"] == "/a"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    of = node(tmp_path, "redis-server", str(tmp_path / "none.conf"))
    with pytest.raises(Refused, match="its configuration is not known"):
        own_settings(of, host_for(of))


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ('dir "/var/lib/my\\x20redis"\n', "/var/lib/my redis"),
        ("dir '/it\\'s'\n", "/it's"),
        ("dir /back\\slash\n", "/back\\slash"),
        ("\tDIR\t/d\r\n", "/d"),
        ('dir "/no end\n', '"/no end'),
    ],
)
def test_values_are_quoted_as_redis_reads_them(text: str, directory: str) -> None:
    assert in_file(text)["dir"] == directory


def test_a_pattern_includes_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, text in (("b.conf", "dir /b\n"), ("a.conf", "dir /a\n"), (".c.conf", "dir /c\n")):
        (tmp_path / name).write_text(text)
    file = tmp_path / "redis"
    file.write_text(f"dir /x\ninclude {tmp_path}/*.conf\ninclude {tmp_path}/none*\n")
    of = node(tmp_path, "redis-server", str(file))
    assert own_settings(of, host_for(of))["dir"] == "/b"


def test_a_flag_may_include_a_file_which_wins_over_flags_before_it(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("dir /more\n")
    of = node(tmp_path, "redis-server", "--dir", "/d", "--include", str(tmp_path / "more"))
    assert own_settings(of, host_for(of))["dir"] == "/more"


def test_the_file_stands_after_the_program_whatever_starts_it(tmp_path: Path) -> None:
    (tmp_path / "r.conf").write_text("dir /d\n")
    command = ("numactl", "--interleave=all", "/opt/redis-server", str(tmp_path / "r.conf"))
    of = node(tmp_path, *command, "--port", "7")
    assert own_settings(of, host_for(of))["dir"] == "/d"


def test_a_unit_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "r.conf").write_text("dir /d\nport 1\n")
    unit = tmp_path / "redis.service"
    unit.write_text(f"[Service]\nExecStart=/usr/bin/redis-server {tmp_path}/r.conf --port 2\n")
    of = node(tmp_path, "systemctl", config=unit)
    assert own_settings(of, host_for(of)) == {"dir": "/d", "port": "2"}
