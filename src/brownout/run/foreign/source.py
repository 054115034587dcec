"""The text of a foreign file: decoded, line by line, in bounded memory."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.run.foreign.series import refused

__all__ = ["Source"]

_HEAD = 1 << 16
_LONGEST_LINE = 1 << 20
_LARGEST_DOCUMENT = 1 << 26
#: What printf of C makes of 0/0 and 1/0, as memtier_benchmark writes it; texts may hold it, too.
_NUMBERLESS = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|[-+]?\b(?:nan|inf)\b')


@dataclass(frozen=True, slots=True)
class Source:
    """A file and the beginning of it, by which its format is recognised."""

    path: Path
    head: str
    encoding: str

    @classmethod
    def open(cls, path: Path) -> "Source":
        """Look at the beginning of a file. Raises `ConfigurationError` if it is not text."""
        try:
            with path.open("rb") as file:
                begin = file.read(_HEAD)
        except OSError as error:
            raise refused(f"{path}: cannot be read: {error.strerror or error}") from error
        encoding = "utf-16" if begin[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = begin.decode(encoding, "replace")
        if encoding != "utf-16" and "\x00" in text:
            raise refused(
                f"{path}: is a binary file, wanted text",
                "of a compressed file unpack it, of vegeta use `vegeta encode --to csv`",
            )
        if not text.strip():
            raise refused(f"{path}: is empty, wanted rows with a time and a count")
        if text.lstrip()[:1] == "<":
            raise refused(
                f"{path}: is XML, wanted CSV, JSON or a tool's lines",
                "of JMeter save results as CSV: jmeter.save.saveservice.output_format=csv",
            )
        return cls(path, text, encoding)

    def first_lines(self, most: int | None = None) -> list[str]:
        """Return the first lines that hold anything, `most` at most or all of the head's."""
        lines = self.head.splitlines()
        if len(self.head) >= _HEAD // 2 and len(lines) > 1:
            lines = lines[:-1]  # the last one may be cut
        return [line for line in lines if line.strip()][:most]

    def lines(self) -> Iterator[str]:
        """Yield every line without its end."""
        number = 0
        with self.path.open(encoding=self.encoding, errors="replace", newline=None) as file:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) >= _LONGEST_LINE:
                    raise refused(f"{self.path}:{number}: is longer than a MB, wanted rows")
                yield line.rstrip("\n")

    @property
    def is_document(self) -> bool:
        """Whether the file is one JSON document, not a line of JSON for each row."""
        begin = self.head.lstrip()[:1]
        if begin not in ("{", "["):
            return False
        first = self.first_lines(2)
        return not (len(first) > 1 and all(_is_object(line) for line in first))

    def document(self) -> Any:
        """Return the JSON document that the file is."""
        try:
            if self.path.stat().st_size > _LARGEST_DOCUMENT:
                raise refused(f"{self.path}: holds more than 64 MB of JSON, wanted less")
            text = self.path.read_text(self.encoding, "replace")
            try:
                return json.loads(text)
            except json.JSONDecodeError:
                return json.loads(_NUMBERLESS.sub(lambda match: match["text"] or "null", text))
        except (OSError, ValueError, RecursionError) as error:
            line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deeply nested"
            raise refused(f"{self.path}{line}: is not valid JSON: {reason}") from error


def _is_object(line: str) -> bool:
    return line.lstrip().startswith("{") and line.rstrip().endswith("}")
