"""The load keeps to its own database: a foreign one stays as it is, and ours is removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import set_each
from tests.security.driving import SMALL, brownout
from tests.security.secured_lab import SecuredLab
from tests.wording import mentions

from brownout.base.errors import ExitCode

THEIRS = "brownout"
#: A load that says that its data set is there already.
REUSE = """
data: {keys: 300, load: false}
streams: [{name: app, mix: {read: 50, update: 50}, rate: 20}]
"""


def _fingerprint(secured: SecuredLab, database: str) -> tuple[str, list[str]]:
    """Return the server's hash over all that is in a database, and its collections."""
    with secured.admin() as admin:
        found = admin[database].command("dbHash")
        return str(found["md5"]), sorted(found["collections"])


@pytest.fixture
def foreign(secured: SecuredLab) -> Iterator[tuple[str, list[str]]]:
    """Somebody's data in a database that has the name of ours; its fingerprint."""
    with secured.admin() as admin:
        admin.drop_database(THEIRS)
        admin[THEIRS]["customers"].insert_many([{"_id": n, "name": f"c{n}"} for n in range(50)])
        # Under a name that we use as well.
        admin[THEIRS]["data"].insert_one({"_id": "theirs"})
    yield _fingerprint(secured, THEIRS)
    with secured.admin() as admin:
        admin.drop_database(THEIRS)


@pytest.fixture
def inventory(secured: SecuredLab, tmp_path: Path) -> str:
    return str(secured.inventory(tmp_path, secured.x509()))


def test_a_run_refuses_a_foreign_database_and_breaks_nothing(
    secured: SecuredLab, foreign: tuple[str, list[str]], inventory: str, tmp_path: Path
) -> None:
    environment = {"BROWNOUT_CLUSTER": inventory, "BROWNOUT_LOAD": SMALL}
    environment["BROWNOUT_STATE"] = str(tmp_path / "state")
    ran = chaos.run(chaos.quick(chaos.load("node-kill")), tmp_path, env=environment)
    assert ran.code == 1
    assert f'database "{THEIRS}" on' in ran.output
    assert "customers, data" in ran.output
    assert "set `namespace` in the workload" in ran.output
    assert ran.journal["run"] == []
    assert [event for event in ran.events if event["type"] == "break"] == []
    assert [event for event in ran.events if event["name"] == "left"] == []
    assert list((tmp_path / "state" / "open").glob("*.json")) == []
    assert _fingerprint(secured, THEIRS) == foreign


@pytest.mark.parametrize(
    "arguments",
    [
        ["load", "lab", "--for", "1s", *set_each(SMALL)],
        ["load", "./reuse.yaml", "--for", "1s"],
        ["clean"],
    ],
    ids=["load", "load of what is said to be there", "clean"],
)
def test_a_foreign_database_is_refused_and_stays_as_it_is(
    secured: SecuredLab,
    foreign: tuple[str, list[str]],
    inventory: str,
    tmp_path: Path,
    arguments: list[str],
) -> None:
    (tmp_path / "reuse.yaml").write_text(REUSE)
    told = brownout(tmp_path, *arguments, "--cluster", inventory)
    assert told.returncode == ExitCode.INCONCLUSIVE
    assert mentions(told.stderr, THEIRS, "customers, data")
    assert "left in" not in told.stdout
    assert _fingerprint(secured, THEIRS) == foreign


def test_a_data_set_that_is_not_there_is_not_taken_for_one_that_is(
    secured: SecuredLab, inventory: str, tmp_path: Path
) -> None:
    with secured.admin() as admin:
        admin.drop_database(THEIRS)
    (tmp_path / "reuse.yaml").write_text(REUSE)
    told = brownout(tmp_path, "load", "./reuse.yaml", "--for", "1s", "--cluster", inventory)
    assert told.returncode == ExitCode.INCONCLUSIVE
    assert "holds no complete data set" in told.stderr
    with secured.admin() as admin:
        assert THEIRS not in admin.list_database_names()


def test_cleaning_removes_what_the_load_made_and_nothing_else(
    secured: SecuredLab, inventory: str, tmp_path: Path
) -> None:
    with secured.admin() as admin:
        admin.drop_database(THEIRS)
        admin["shop"]["customers"].insert_one({"_id": 1})
    shop = _fingerprint(secured, "shop")
    loaded = brownout(
        tmp_path, "load", "lab", "--for", "1s", *set_each(SMALL), "--cluster", inventory
    )
    assert loaded.returncode == 0, loaded.stderr
    assert (
        f"left in `brownout`: 300 records, 200 verified keys; `brownout clean --cluster {inventory}"
        "` removes it" in loaded.stdout
    )
    with secured.admin() as admin:
        admin[THEIRS]["notes"].insert_one({"_id": "of somebody who came later"})
    cleaned = brownout(tmp_path, "clean", "--cluster", inventory)
    assert cleaned.returncode == 0, cleaned.stderr
    assert "nothing of ours is left in `brownout`" in cleaned.stdout
    assert _fingerprint(secured, THEIRS)[1] == ["notes"]
    assert _fingerprint(secured, "shop") == shop
    with secured.admin() as admin:
        admin.drop_database(THEIRS)
        admin.drop_database("shop")
    loaded = brownout(
        tmp_path, "load", "lab", "--for", "1s", "--clean", *set_each(SMALL), "--cluster", inventory
    )
    assert loaded.returncode == 0, loaded.stderr
    assert "left in" not in loaded.stdout
    with secured.admin() as admin:
        assert THEIRS not in admin.list_database_names()
