"""How this installation of brownout gets one of its extras, wherever it came from."""

import json
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["how_to_install"]


def how_to_install(extra: str) -> str:
    """Return the command that adds `extra` to this installation, e.g. to one from a checkout.

    An installer records the origin of what no package index gave it (PEP 610): a checkout, a
    wheel, a repository. Without that record brownout came from an index, which knows its name.
    """
    origin = _origin()
    url = origin.get("url", "")
    if not url:
        return f"pip install 'brownout[{extra}]'"
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return f"pip install 'brownout[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}'"
    if not url.startswith("file:"):
        return f"pip install 'brownout[{extra}] @ {url}'"
    path = Path(unquote(urlsplit(url).path))
    if not path.exists():
        return f"install brownout again, with the extra `{extra}`"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{path}[{extra}]'"


@cache
def _origin() -> dict[str, Any]:
    text = distribution("brownout").read_text("direct_url.json")
    return dict(json.loads(text)) if text else {}
