"""Files of variables."""

from hypothesis import given
from hypothesis import strategies as st

from brownout.base.variables import variables_in, words


def test_a_file_of_variables_has_quotes_comments_and_lines_that_go_on() -> None:
    text = "A=1 # one\nexport B='two words'\n# C=3\nD=a\\\n  b\nE='odd\nnot one\n"
    assert variables_in(text) == {"A": "1", "B": "two words", "D": "ab", "E": "'odd"}


@given(st.text(alphabet="A=\"'\\ #\n$x", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert all(name.isidentifier() for name in variables_in(text))
    assert all(isinstance(word, str) for word in words(text))
