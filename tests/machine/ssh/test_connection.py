"""The way to a machine: who is believed, who is let in, and what happens when it breaks."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest
from tests.sshd import Sshd
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError
from brownout.machine.commands import script
from brownout.machine.ssh.connection import Connection, SshRunner
from brownout.machine.ssh.pool import close_all, connection_for
from brownout.machine.ssh.spec import Login


def _runner(sshd: Sshd, **changed: object) -> SshRunner:
    return SshRunner(connection_for(Login.model_validate(sshd.login(**changed))))


def _connection(sshd: Sshd, **changed: object) -> Connection:
    return connection_for(Login.model_validate(sshd.login(**changed)))


def test_a_script_runs_there_with_its_arguments_whole(sshd: Sshd) -> None:
    done = _runner(sshd).run(
        script('printf "%s\\n" "$#" "$1" "$2"; return 3', "two words", "it's $x")
    )

    assert (done.status, done.output.splitlines()) == (3, ["2", "two words", "it's $x"])
    assert done.sent < done.received
    assert done.attempts == 1


def test_a_script_and_its_arguments_are_in_no_process_table(sshd: Sshd) -> None:
    done = _runner(sshd).run(script("tr '\\0' ' ' < /proc/$$/cmdline", "an-argument"))

    assert done.output.split() == ["/bin/sh", "-s"]


def test_what_a_login_shell_prints_is_not_taken_for_the_scripts_words(tmp_path: Path) -> None:
    noise = 'ForceCommand echo "Welcome to db1!"; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
    server = Sshd(tmp_path / "sshd", more=noise).start()
    try:
        assert _runner(server).run(script("echo ours")).output == "ours\n"
    finally:
        close_all()
        server.stop()


def test_an_unknown_host_key_is_refused_with_its_fingerprint_and_what_to_do(sshd: Sshd) -> None:
    sshd.known_hosts.write_text("")

    with pytest.raises(ConfigurationError) as refused:
        _connection(sshd).connect()

    fingerprint = asyncssh.read_public_key(str(sshd.directory / "host_key.pub")).get_fingerprint()
    assert f"host key of 127.0.0.1 (port {sshd.port}) is unknown" in str(refused.value)
    assert fingerprint in str(refused.value)
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> {sshd.known_hosts}" in str(refused.value)


def test_a_changed_host_key_is_refused_and_both_are_named(sshd: Sshd) -> None:
    before = asyncssh.read_public_key(str(sshd.directory / "host_key.pub")).get_fingerprint()
    sshd.stop()
    sshd.change_host_key()
    sshd.start()
    after = asyncssh.read_public_key(str(sshd.directory / "host_key.pub")).get_fingerprint()

    with pytest.raises(HostError, match="may be intercepted") as refused:
        _connection(sshd).connect()

    assert f"found ssh-ed25519 {after}, wanted {before}" in str(refused.value)


def test_without_a_file_of_host_keys_nobody_is_believed(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(ConfigurationError, match=r"no `.*/\.ssh/known_hosts`, so no host key"):
        _connection(sshd, known_hosts=None).connect()


def test_the_users_own_ssh_config_cannot_switch_the_check_off(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".ssh").mkdir()
    text = "Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n"
    (tmp_path / ".ssh" / "config").write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path))
    sshd.known_hosts.write_text("")

    with pytest.raises(ConfigurationError, match="is unknown"):
        _connection(sshd).connect()


def test_a_wrong_key_is_refused_with_user_and_key_named(sshd: Sshd, tmp_path: Path) -> None:
    other = tmp_path / "other"
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(other))

    with pytest.raises(ConfigurationError, match="authorized_keys") as refused:
        _connection(sshd, identity_file=str(other), user="root").connect()

    assert f"refuses user `root` with the key `{other}`" in str(refused.value)


def test_an_encrypted_key_opens_with_its_passphrase_by_reference(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "locked"
    key = asyncssh.read_private_key(str(sshd.identity))
    key.write_private_key(str(locked), passphrase="sesame-42", rounds=50)
    monkeypatch.setenv("PASS", "sesame-42")

    runner = _runner(sshd, identity_file=str(locked), passphrase={"env": "PASS"})

    assert runner.run(script("echo in")).output == "in\n"


def test_an_encrypted_key_without_its_passphrase_says_so(sshd: Sshd, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    key = asyncssh.read_private_key(str(sshd.identity))
    key.write_private_key(str(locked), "pkcs8-pem", passphrase="sesame-42")

    with pytest.raises(ConfigurationError, match="give `passphrase` as a reference") as refused:
        _connection(sshd, identity_file=str(locked)).connect()

    assert str(locked) in str(refused.value)


def test_a_machine_that_does_not_answer_is_named_with_its_reason(sshd: Sshd) -> None:
    sshd.stop()

    with socket.socket() as taken:  # else another test may be given the port, and would answer
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", sshd.port))
        wanted = r"127\.0\.0\.1 \(port \d+\) cannot be reached: .*refused"
        with pytest.raises(HostError, match=wanted):
            _connection(sshd).connect()


def test_a_script_that_does_not_end_is_given_up_and_the_connection_stays(sshd: Sshd) -> None:
    runner = _runner(sshd)

    with pytest.raises(HostError, match=r"did not end within 0\.3 s"):
        runner.run(script("sleep 5"), timeout_s=0.3)

    assert runner.run(script("echo still")).output == "still\n"
    assert sshd.log().count("Accepted publickey") == 1


def test_a_broken_connection_is_made_again_and_the_script_run_again(
    sshd: Sshd, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    text = script('echo x >> "$1"; until [ -e "$2" ]; do sleep 0.02; done; echo done', begun, go)
    results = []
    thread = threading.Thread(target=lambda: results.append(_runner(sshd).run(text)))
    thread.start()
    await_true(lambda: begun.exists())

    sshd.cut()
    await_true(lambda: begun.read_text() == "x\nx\n")
    go.touch()
    thread.join(timeout=20)

    (done,) = results
    assert (done.output, done.attempts) == ("done\n", 2)


def test_a_server_that_was_down_for_a_while_is_found_again(sshd: Sshd) -> None:
    runner = _runner(sshd)
    runner.run(script("true"))
    sshd.stop()
    threading.Timer(1.0, sshd.start).start()

    assert runner.run(script("echo back")).output == "back\n"


def test_a_machine_that_stays_away_is_given_up_after_the_time_for_it(sshd: Sshd) -> None:
    runner = _runner(sshd, reconnect_s=0.5)
    runner.run(script("true"))
    sshd.stop()

    with pytest.raises(HostError, match="cannot be reached"):
        runner.run(script("true"))


def test_hosts_of_one_login_share_one_connection(sshd: Sshd) -> None:
    _runner(sshd).run(script("true"))
    _runner(sshd).run(script("true"))

    assert sshd.log().count("Accepted publickey") == 1


@pytest.fixture
def bastion(tmp_path: Path) -> Iterator[Sshd]:
    server = Sshd(tmp_path / "bastion").start()
    try:
        yield server
    finally:
        server.stop()


def test_a_machine_behind_a_bastion_is_reached_through_it(sshd: Sshd, bastion: Sshd) -> None:
    runner = _runner(sshd, bastion=bastion.login())

    assert runner.run(script("echo $SSH_CONNECTION")).output.split()[3] == str(sshd.port)
    assert bastion.log().count("Accepted publickey") == 1


def test_a_bastion_that_breaks_is_reached_again_too(sshd: Sshd, bastion: Sshd) -> None:
    runner = _runner(sshd, bastion=bastion.login())
    runner.run(script("true"))

    bastion.cut()

    assert runner.run(script("echo again")).output == "again\n"
    assert bastion.log().count("Accepted publickey") == 2


def test_a_bastions_host_key_is_checked_like_any_other(sshd: Sshd, bastion: Sshd) -> None:
    bastion.known_hosts.write_text("")

    with pytest.raises(ConfigurationError, match=rf"port {bastion.port}\) is unknown"):
        _connection(sshd, bastion=bastion.login()).connect()

    assert "Accepted" not in sshd.log()


def test_what_lies_behind_a_bastion_is_named_with_it(sshd: Sshd, bastion: Sshd) -> None:
    sshd.stop()

    with pytest.raises(HostError, match=rf"cannot be reached through .*port {bastion.port}"):
        _connection(sshd, bastion=bastion.login()).connect()

    sshd.start()
