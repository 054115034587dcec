"""The list of deliberate defects stays true: `make defects` is what runs it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEFECTS: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("defects.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("defect", DEFECTS, ids=[defect["harm"] for defect in DEFECTS])
def test_a_defect_changes_one_line_that_is_there_and_names_tests_that_are(
    defect: dict[str, Any],
) -> None:
    assert (ROOT / defect["file"]).read_text().splitlines().count(defect["old"]) == 1
    assert defect["new"] != defect["old"]
    for tests in defect["tests"].partition(" -run=")[0].split():
        assert (ROOT / tests.partition("::")[0]).exists()


def test_every_part_that_people_trust_has_defects() -> None:
    areas = Counter(defect["area"] for defect in DEFECTS)
    assert set(areas) == {"guards", "undo", "measures", "verdict", "ledger", "generator"}
    assert min(areas.values()) >= 4
    assert areas.total() >= 30
