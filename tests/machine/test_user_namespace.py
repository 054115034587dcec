"""Root starts a server that refuses root, in a user namespace as nobody."""

import os
import subprocess

import pytest

from brownout.machine import user_namespace


def test_a_process_is_not_root_there() -> None:
    if reason := user_namespace.why_not():
        pytest.skip(f"NOT TESTED: user namespaces: {reason}")
    done = subprocess.run([*user_namespace.enter(), "id", "-u"], capture_output=True, text=True)
    assert int(done.stdout) == (os.geteuid() or 65534)


def test_an_ordinary_user_stays_who_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert user_namespace.enter() == ()
    assert user_namespace.why_not() == ""


def test_without_unshare_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(user_namespace, "_ENTER", ("no-such-program",))
    assert "does not start" in user_namespace.why_not()
