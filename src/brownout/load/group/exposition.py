"""Put the metrics of several generators on one page of Prometheus's text format. Pure.

Each generator labels its own with `part`; a family's comment lines may stand there only once.
"""

from collections.abc import Iterable, Iterator

__all__ = ["one_page"]


def one_page(pages: Iterable[str]) -> str:
    """Return all samples of `pages`, family by family, each under its comments."""
    comments: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for page in pages:
        for family, line in _lines(page):
            if line.startswith("#"):
                known = comments.setdefault(family, [])
                if line not in known:
                    known.append(line)
            else:
                samples.setdefault(family, []).append(line)
    families = dict.fromkeys([*comments, *samples])
    lines = [x for f in families for x in (*comments.get(f, ()), *samples.get(f, ()))]
    return "".join(f"{line}\n" for line in lines)


def _lines(page: str) -> Iterator[tuple[str, str]]:
    """Yield each line with its family: samples follow their family's comments."""
    family = ""
    for line in page.splitlines():
        if line.startswith(("# HELP ", "# TYPE ")):
            family = line.split(" ", 3)[2]
        if line.strip() and (not line.startswith("#") or family):
            yield family, line
