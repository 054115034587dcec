"""Build every dashboard: `python -m brownout.dashboards [DIRECTORY]`."""

import sys
from pathlib import Path

from brownout.dashboards.build import dashboards, text_of

if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "grafana"
    place.mkdir(parents=True, exist_ok=True)
    for dashboard in dashboards():
        (place / f"{dashboard['uid']}.json").write_text(text_of(dashboard), encoding="utf-8")
