"""Write experiments as compact JSON: those given, or every one in experiments/.

.venv/bin/python tools/format_experiments.py [FILE...]
"""

import json
import sys
from pathlib import Path

from brownout.base.compact_json import compact

SHIPPED = Path(__file__).parents[1] / "experiments"

for path in map(Path, sys.argv[1:] or sorted(SHIPPED.glob("*.json"))):
    text = path.read_text(encoding="utf-8")
    path.write_text(compact(json.loads(text)), encoding="utf-8")
