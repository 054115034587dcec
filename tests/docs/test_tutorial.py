"""The tutorial does what it says: its own commands, on the lab and on a cluster of one's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.docs.documents import ROOT, Block, blocks

from brownout.databases.lab.ports import free_ports
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster
from brownout.measure.document import impact_of
from brownout.show.report import story

WHOLE = list(blocks(ROOT / "docs" / "tutorial.md"))
#: An application, a workload that asks it, and how both are started.
SHOP = [block for block in WHOLE if block.mark == "shop"]
TUTORIAL = [block for block in WHOLE if block not in SHOP]
#: Every command but those that install brownout, as one would type them.
_, *SHELL = [block for block in TUTORIAL if block.language == "sh"]
(INVENTORY,) = [block for block in TUTORIAL if block.language == "yaml"]
#: From here on, the reader's own database.
CHECK = next(n for n, block in enumerate(SHELL) if "infra/clusters/orders.yaml" in block.text)


class Reader:
    """Someone who types what the tutorial shows, in a folder that is empty at first."""

    def __init__(self, place: Path) -> None:
        self.place = place
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("BROWNOUT_")}
        own = {"BROWNOUT_STATE": str(place / "state"), "BROWNOUT_LAB_DIR": str(place / "lab"),
               "ORDERS_PASSWORD": "not this one's", "PATH": path}  # fmt: skip
        self._environment = {**inherited, **own}

    def types(self, block: Block) -> list[int]:
        """Type each line of a block, and return the exit codes."""
        codes = []
        for line in block.text.splitlines():
            words = f'cd "$PLACE" && {line}\ncode=$?\npwd > "$KEPT"\nexit $code'
            kept = self.place / "where"
            given = {**self._environment, "PLACE": str(self.place), "KEPT": str(kept)}
            done = subprocess.run(
                ["bash", "-c", words], env=given, capture_output=True, text=True, timeout=300
            )
            print(f"$ {line}\n{done.stdout}{done.stderr}")  # shown where a test fails
            self.place = Path(kept.read_text().strip())
            codes.append(done.returncode)
        return codes


def test_the_inventory_of_ones_own_is_right_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "infra" / "clusters").mkdir(parents=True)
    (tmp_path / "infra" / "clusters" / "orders.yaml").write_text(INVENTORY.text)
    check, _ = SHELL[CHECK].text.splitlines()
    alone = Block(SHELL[CHECK].path, SHELL[CHECK].line, "sh", "", check)
    assert Reader(tmp_path).types(alone) == [0]


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(1500)
def test_a_reader_breaks_the_lab_and_then_a_database_of_their_own(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    reader = Reader(tmp_path / "reader")
    reader.place.mkdir()
    plan, run, show, copy, again = SHELL[:CHECK]
    assert reader.types(plan) == [0]
    assert reader.types(run) == [0]
    assert reader.types(show) == [0, 0]
    assert reader.types(copy) == [0, 0]
    experiment = reader.place / "experiments" / "node-kill.json"
    document = json.loads(experiment.read_text())
    document["configuration"].setdefault("limits", {})["blackout"] = 1.0
    experiment.write_text(json.dumps(document, indent=2))
    reader.place = reader.place.parent
    assert reader.types(again) == [0, 1], "it fails: the lab cannot hold that limit"
    running = yaml.safe_load((labs.directory(fresh_lab.name) / "inventory.yaml").read_text())
    del running["lab"]
    orders = {**running, "name": "orders", "environment": "staging"}
    (reader.place / "infra" / "clusters" / "orders.yaml").write_text(yaml.safe_dump(orders))
    checked, load, plan, stepdown, kill = SHELL[CHECK:]
    assert reader.types(checked) == [0, 0]
    assert reader.types(load) == [0]
    assert reader.types(plan) == [0]
    # How fast this machine is decides the verdicts; that it was measured and put back is claimed.
    assert reader.types(stepdown) in ([0], [1], [2])
    assert reader.types(kill) in ([0], [1], [2])
    assert lab.status(fresh_lab.name).condition == "up"


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_the_shop_of_the_tutorial_is_judged_through_http(
    lab_postgresql: Cluster, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    program, load, _ = (block.text.replace("8000", str(port)) for block in SHOP)
    (tmp_path / "shop.py").write_text(program)
    (tmp_path / "shop.yaml").write_text(load)
    addresses = ",".join(node.address for node in lab_postgresql.nodes)
    database = f"postgresql://postgres@{addresses}/postgres?target_session_attrs=read-write"
    shop = subprocess.Popen(
        [sys.executable, tmp_path / "shop.py"],
        env={**os.environ, "DATABASE": database}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ran = chaos.run(
            chaos.load("node-kill"), tmp_path,
            "--var", "cluster=lab-postgresql", "--var", f"workload={tmp_path / 'shop.yaml'}",
        )  # fmt: skip
    finally:
        shop.kill()
        shop.wait()
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    assert "http checkout read" in fault["longest_blackout_by_lane"]
    checkout, orders = (fault["scopes"][name] for name in ("checkout", "orders"))
    assert checkout["longest_blackout"] > 0
    assert checkout["client_recovered_time"][1] is not None, "the node came back, and so did it"
    assert orders["client_recovered_time"][1] is not None
    assert any("The application `checkout` was served" in each
               for each in story.felt(impact_of(ran.impact)))  # fmt: skip
    assert ran.directory is not None
    settings = json.loads((ran.directory / "generator.json").read_text())["driver_settings"]
    assert settings["http"]["checkout"]["keep_alive"] is True
