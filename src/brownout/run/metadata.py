"""`run.json`, and JSON files in general: each is written in one step."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.base.files import replace_file
from brownout.base.printable import printable
from brownout.run.shape import finite

__all__ = ["OCCASION", "digest_of", "read_as_written", "read_json", "write_json"]

#: What a run is a part of: a game day, a release, a ticket. The history has it with the run.
OCCASION = "BROWNOUT_OCCASION"


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document without its own `digest`, whatever order it is in."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_json(path: Path, data: Any) -> None:
    """Write `data` to `path` in one step; the same data gives the same bytes.

    Raises `RunDirectoryError` where the file cannot be written, e.g. on a full disk.
    """
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, text)


def read_json(path: Path) -> dict[str, Any]:
    """Read an object from a JSON file, fit for a terminal.

    Raises `RunDirectoryError` where there is none.
    """
    data: dict[str, Any] = printable(read_as_written(path))
    return data


def read_as_written(path: Path) -> dict[str, Any]:
    """Read an object from a JSON file as its digest is made of it; raises as `read_json` does."""
    try:
        data = json.loads(path.read_text("utf-8"), parse_constant=finite, parse_float=finite)
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RunDirectoryError(f"{path}: is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RunDirectoryError(f"{path}: found {type(data).__name__}, wanted an object")
    return data
