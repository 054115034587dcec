"""Colours stand out from their page, and apart from each other for those who see fewer of them."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from brownout.show.report.palette import DARK, LIGHT, LINES, LOOKS, PAPER, TEXT, Palette

#: What people without one kind of cones see, in linear RGB (Machado, Oliveira, Fernandes 2009).
MISSING = {
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
              [-0.011820, 0.042940, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
             [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK, "paper": PAPER}
#: Styles that meet in one figure.
TOGETHER = [
    ("total", "read", "write"),
    ("p50", "p99", "p999", "max"),
    ("before", "during", "after", "all"),
    ("raw", "offered", "total"),
    ("ok", "bad"),
]


def linear(colour: str) -> NDArray[np.float64]:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    shares = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (shares[1] + 0.05) / (shares[0] + 0.05)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("name", PALETTES)
def test_words_have_the_contrast_that_wcag_asks(name: str) -> None:
    palette = PALETTES[name]
    for ground in ("page", "card", "sunk", "plot"):
        for word in TEXT:
            assert contrast(palette[word], palette[ground]) >= 4.5, (word, ground)


@pytest.mark.parametrize("name", PALETTES)
def test_words_on_badges_and_pins_can_be_read(name: str) -> None:
    palette = PALETTES[name]
    for ground in ("good", "bad", "unsure", "quiet", "fourth"):
        assert contrast(palette["page"], palette[ground]) >= 4.5, ground


@pytest.mark.parametrize("name", PALETTES)
def test_lines_stand_out_from_the_plot_and_from_a_dip(name: str) -> None:
    palette = PALETTES[name]
    for line in LINES:
        assert contrast(palette[line], palette["plot"]) >= 3, line
        assert contrast(palette[line], palette["dip"]) >= 2.5, line


@pytest.mark.parametrize("name", PALETTES)
def test_lines_of_one_figure_differ_without_colour_or_for_every_eye(name: str) -> None:
    palette = PALETTES[name]
    for styles in TOGETHER:
        for one, other in combinations(styles, 2):
            look, fellow = LOOKS[one], LOOKS[other]
            if look.dash == fellow.dash and abs(look.width - fellow.width) < 0.8:
                assert least_difference(palette, look.colour, fellow.colour) > 15, (one, other)


def least_difference(palette: Palette, one: str, other: str) -> float:
    pair = [linear(palette[name]) for name in (one, other)]
    seen = [np.eye(3), *(np.array(matrix) for matrix in MISSING.values())]
    return min(float(np.linalg.norm(lab(m @ pair[0]) - lab(m @ pair[1]))) for m in seen)
