"""`brownout observe`, and what is said where something of it cannot be had."""

import os
import socket
import time
from pathlib import Path

import pytest
from tests.prometheus import get, wanted

from brownout import cli
from brownout.base.errors import ClusterError
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.observation import Endpoint, Exporter
from brownout.observe import prometheus, targets
from brownout.observe.prometheus import config
from brownout.observe.push import push


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path))
    return tmp_path


def test_it_comes_up_once_says_what_it_scrapes_and_goes(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted("prometheus")
    (port,) = reserve_ports(1, state)
    targets.register("r1", "127.0.0.1:1", os.getpid())  # nothing answers there
    up = ["observe", "up", "--listen", f"127.0.0.1:{port}"]
    try:
        assert cli.run(up) == cli.run(up) == 0
        assert "rate10s" in get(f"http://127.0.0.1:{port}/api/v1/rules")
        while "brownout  127.0.0.1:1  down" not in capsys.readouterr().out:
            assert cli.run(["observe", "status"]) == 0
            time.sleep(0.1)
    finally:
        assert cli.run(["observe", "down"]) == 0
    assert cli.run(["observe", "status"]) == 1
    assert "r1  http://127.0.0.1:1/metrics" in capsys.readouterr().out
    assert (state / "observe" / "data").is_dir()
    assert cli.run(["observe", "down", "--remove"]) == 0
    assert not (state / "observe" / "data").exists()


def test_without_a_prometheus_it_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert cli.run(["observe", "up"]) == 64
    assert "apt install prometheus" in capsys.readouterr().err
    assert prometheus.running() is None


def test_a_port_that_is_taken_is_said_with_prometheus_own_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted("prometheus")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert cli.run(["observe", "up", "--listen", f"127.0.0.1:{other.getsockname()[1]}"]) != 0
    assert "address already in use" in capsys.readouterr().err


def test_exporters_of_several_clusters_share_a_job(tmp_path: Path) -> None:
    made = config(tmp_path, [Exporter(job="node", targets=("a:1",)),
                             Exporter(job="node", targets=("b:1", "a:1"))])  # fmt: skip
    runs, node = made["scrape_configs"]
    assert runs["file_sd_configs"][0]["files"] == [f"{tmp_path}/*.json"]
    assert node["static_configs"] == [{"targets": ["a:1", "b:1"]}]


def test_dashboards_are_copied_out(tmp_path: Path) -> None:
    assert cli.run(["observe", "dashboards", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "grafana" / "brownout-run.json").is_file()
    assert (tmp_path / "out" / "rules" / "alerts.yaml").is_file()


def test_a_pushgateway_that_is_gone_is_an_error_that_names_it(state: Path) -> None:
    (port,) = reserve_ports(1, state)
    with pytest.raises(ClusterError, match=f"127.0.0.1:{port} does not answer"):
        push(Endpoint(url=f"http://127.0.0.1:{port}"), "r1", "up 1\n")


def test_watching_an_address_where_no_run_is_says_so(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (port,) = reserve_ports(1, state)
    assert cli.run(["watch", f"http://127.0.0.1:{port}"]) == 2
    assert "no run shows itself" in capsys.readouterr().err
