"""Recording and alerting rules: Prometheus takes them, and they say the right thing in time."""

import re
from pathlib import Path

from tests.dashboards.questions import RULES
from tests.prometheus import promtool

CASES = Path(__file__).parent / "rules.test.yaml"


def test_prometheus_takes_the_rules() -> None:
    checked = promtool("check", "rules", "--lint-fatal", *RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_alert_fires_when_it_should_and_not_before(tmp_path: Path) -> None:
    text = CASES.read_text()
    for path in RULES:
        word = "ALERTS" if path.stem == "alerts" else "RECORDING"
        text = text.replace(word, str(path))
    (tmp_path / "cases.yaml").write_text(text)
    tested = promtool("test", "rules", tmp_path / "cases.yaml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_alert_has_a_case() -> None:
    alerts = {name for path in RULES for name in re.findall(r"alert: (\w+)", path.read_text())}
    assert alerts
    assert {name for name in alerts if f"alertname: {name}" not in CASES.read_text()} == set()
