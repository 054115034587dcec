"""The metrics of several generators on one page."""

from brownout.load.group.group import one_page


def test_metrics_of_all_stand_on_one_page_each_family_once() -> None:
    page = (
        '# HELP n N.\n# TYPE n counter\nn{part="%s"} 1\n'
        '# HELP m M.\n# TYPE m gauge\nm{part="%s"} 2\n'
    )
    found = one_page([page % (0, 0), page % (1, 1)])
    assert found.splitlines() == [
        "# HELP n N.", "# TYPE n counter", 'n{part="0"} 1', 'n{part="1"} 1',
        "# HELP m M.", "# TYPE m gauge", 'm{part="0"} 2', 'm{part="1"} 2',
    ]  # fmt: skip
