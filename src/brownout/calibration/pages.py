"""Put what was measured into a document, between the two marks that it has for it."""

from pathlib import Path

from brownout.base.errors import ConfigurationError

__all__ = ["put"]


def put(path: Path, name: str, text: str) -> None:
    """Replace what stands in `path` between `<!-- name: begin -->` and `<!-- name: end -->`.

    Raises `ConfigurationError` where the file or one of the marks is not there.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    try:
        whole = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from error
    before, first, rest = whole.partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise ConfigurationError(f"{path}: has no `{begin}` and `{end}`", "add both lines")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
