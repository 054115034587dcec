"""`observe` of an inventory: what it may say."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory, labs


def _cluster(observe: Any, tmp_path: Path) -> Any:
    data = {"database": "mongodb", "environment": "lab", "lab": {"engine": "mongodb"}}
    return inventory.parse({**data, "observe": observe}, tmp_path / "c1.yaml")


def test_secrets_stand_there_by_reference_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_TOKEN", "s3cret")
    given = {
        "prometheus": {"url": "https://p.example.com/x/", "token": {"env": "PROMETHEUS_TOKEN"}}
    }
    cluster = _cluster(given, tmp_path)
    assert cluster.observe.prometheus.url == "https://p.example.com/x"
    assert "s3cret" not in repr(cluster) + cluster.model_dump_json()


@pytest.mark.parametrize(
    ("observe", "said"),
    [
        ({"prometheus": {"url": "https://u:p@h"}}, "without a user"),
        ({"prometheus": {"url": "h:9090"}}, "http"),
        ({"prometheus": {"url": "http://h", "token": "plain"}}, "plain value"),
        ({"prometheus": {"url": "http://h", "username": "u"}}, "username and password together"),
        ({"grafana": {"url": "http://h"}}, "token"),
        ({"listen": "9464"}, "host:port"),
        ({"exporters": [{"job": "mongodb", "targets": []}]}, "targets"),
        ({"promtheus": {}}, "unknown setting"),
    ],
)
def test_mistakes_are_said_with_their_place(observe: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        _cluster(observe, tmp_path)
    assert "observe" in str(raised.value)
    assert "p@h" not in str(raised.value)


def test_what_a_running_lab_writes_down_leaves_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its login would stand there as asterisks, which nobody could read back."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "labs"))
    monkeypatch.setenv("GRAFANA_TOKEN", "s3cret")
    grafana = {"url": "https://g.example.com", "token": {"env": "GRAFANA_TOKEN"}}
    cluster = _cluster({"grafana": grafana}, tmp_path)
    labs.directory(cluster.name).mkdir(parents=True)
    written = labs.write_inventory(cluster)
    assert inventory.declared(written).observe.grafana is None
    assert inventory.declared(written).lab == cluster.lab


def test_nothing_has_to_be_said(tmp_path: Path) -> None:
    observe = _cluster({}, tmp_path).observe
    assert observe.listen == "127.0.0.1:0"
    assert observe.prometheus is observe.grafana is observe.pushgateway is None
