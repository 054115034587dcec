"""A dashboard as a TypeScript constant of Grafana's own type, for `tsc --strict` to check."""

import copy
import json
import re
from typing import Any

__all__ = ["typescript"]

#: TypeScript takes no text where it wants a member of an enumeration.
ENUMERATIONS = {("mode", "absolute"): "ThresholdsMode.Absolute"}


def typescript(dashboard: dict[str, Any]) -> str:
    """Return the module's text. What an annotation asks depends on its data source, so it stands
    in a constant of its own: there a type may have more than `DataQuery` wants."""
    data = copy.deepcopy(dashboard)
    lines = ["import { type Dashboard, ThresholdsMode } from '@grafana/schema';"]
    for number, annotation in enumerate(data["annotations"]["list"]):
        lines.append(f"const target{number} = {json.dumps(annotation['target'])};")
        annotation["target"] = f"<target{number}>"
    text = re.sub(r'"<(target\d+)>"', r"\1", json.dumps(data, indent=1))
    for (key, value), member in ENUMERATIONS.items():
        text = text.replace(f'"{key}": "{value}"', f'"{key}": {member}')
    lines.append(f"export const dashboard: Dashboard = {text};")
    lines.append("export const used = ThresholdsMode;")
    return "\n".join(lines) + "\n"
