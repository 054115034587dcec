"""What a broken node waits for is done in an order that can work."""

import pytest

from brownout.faults import owed


@pytest.mark.parametrize(
    ("breaks", "waiting"),
    [
        (["start_node"], "start_node"),
        (["start_node", "start_node"], "start_node"),
        (["resume_node", "start_node"], "start_node"),
        (["unquiesce_node", "start_node"], "start_node then unquiesce_node"),
        (["start_node", "unquiesce_node"], "start_node then unquiesce_node"),
        (["unquiesce_node", "resume_node", "start_node"], "start_node then unquiesce_node"),
    ],
)
def test_a_process_is_put_right_before_its_database_is_asked(
    breaks: list[str], waiting: str
) -> None:
    found = ""
    for mend in breaks:
        found = owed.broke(found, mend)
    assert found == waiting


def test_a_mend_takes_only_itself_away() -> None:
    waiting = "start_node then unquiesce_node"
    assert owed.mended(waiting, "start_node") == "unquiesce_node"
    assert owed.mended(waiting, "resume_node") == waiting
    assert owed.mended("start_node", "start_node") == ""
    assert owed.steps("") == []
