"""Dashboards against Grafana's own types, `@grafana/schema` of the version that they are for."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.dashboards.questions import DASHBOARDS
from tests.dashboards.typed import typescript

#: The last of the line that grafana-foundation-sdk 11.6 writes for.
PACKAGES = {"@grafana/schema": "11.6.16", "typescript": "5.9.3"}
OPTIONS = {
    "strict": True,
    "noEmit": True,
    "module": "esnext",
    "moduleResolution": "bundler",
    "skipLibCheck": True,
    "types": [],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TypeScript project with Grafana's types, from the npm registry."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("NOT TESTED: dashboards against Grafana's types: there is no npm")
    place = tmp_path_factory.mktemp("typed")
    (place / "package.json").write_text(json.dumps({"private": True, "devDependencies": PACKAGES}))
    (place / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS}))
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=240)
    if done.returncode:
        pytest.skip(f"NOT TESTED: npm cannot install Grafana's types: {done.stderr[-300:]}")
    return place


def test_every_dashboard_is_one_by_grafanas_own_types(project: Path) -> None:
    """And what is not one is found: a mistake each is made in two other copies."""
    for path in DASHBOARDS:
        (project / f"{path.stem}.ts").write_text(typescript(json.loads(path.read_text())))
    wide, coloured = (json.loads(DASHBOARDS[0].read_text()) for _ in range(2))
    wide["panels"][1]["gridPos"]["w"] = "wide"
    coloured["colour"] = "red"
    (project / "wrong-type.ts").write_text(typescript(wide))
    (project / "wrong-name.ts").write_text(typescript(coloured))
    tsc = project / "node_modules" / ".bin" / "tsc"
    done = subprocess.run(
        [tsc, "-p", "."], cwd=project, capture_output=True, text=True, timeout=240
    )
    said = done.stdout.splitlines()
    assert [line for line in said if not line.startswith("wrong-")] == []
    assert any(line.startswith("wrong-type.ts") and "'number'" in line for line in said)
    assert any(line.startswith("wrong-name.ts") and "colour" in line for line in said)
