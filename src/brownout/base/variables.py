"""Files of variables, as shells, systemd and Compose read them: `A=1`, `export A="1"`."""

import re
import shlex

__all__ = ["variables_in", "words"]

_NAMED = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)")


def variables_in(text: str) -> dict[str, str]:
    """Return the variables that a file sets; a quote that does not end is a letter."""
    lines = (_NAMED.match(line.strip()) for line in re.sub(r"\\\r?\n", " ", text).splitlines())
    return {line[1]: "".join(words(line[2])) for line in lines if line is not None}


def words(text: str) -> list[str]:
    """Return the words of a line as a shell has them; a quote that does not end is a letter."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()
