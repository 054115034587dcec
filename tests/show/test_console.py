"""Colours of a log, and where there are none."""

import io
import logging

from brownout.show.console import without_colours


class Coloured(logging.Formatter):
    """As that of chaostoolkit-lib."""

    def __init__(self) -> None:
        super().__init__()
        self._colors = {logging.INFO: "\033[32m"}


def test_each_stream_that_is_not_a_terminal_loses_its_colours_and_a_closed_one_is_left() -> None:
    logger = logging.Logger("mine")
    opened, closed = (logging.StreamHandler(io.StringIO()) for _ in range(2))
    for handler in (closed, opened):
        handler.setFormatter(Coloured())
        logger.addHandler(handler)
    closed.stream.close()
    without_colours(logger)
    assert vars(opened.formatter)["_colors"] == {}
    assert vars(closed.formatter)["_colors"]
