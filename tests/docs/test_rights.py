"""The page of least rights has the table of privileges that brownout asks each database for."""

import pytest
from tests.docs.documents import ROOT

from brownout.inventory.database import Database, databases
from brownout.inventory.grants import Grant

OURS = [found for found in databases().values() if found.grants]


def row(grant: Grant) -> str:
    """The line of a privilege in the documentation."""
    privilege, statement = grant.words("USER", "NAMESPACE")
    asked = "yes" if grant.ask else "no"
    cells = (", ".join(grant.acts), privilege, f"`{statement}`", asked)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


@pytest.mark.parametrize("database", OURS, ids=[found.name for found in OURS])
def test_every_privilege_stands_in_the_table_of_its_database(database: Database) -> None:
    page = (ROOT / "docs" / "rights.md").read_text()
    section = page.partition(f"\n### {database.title}\n")[2].partition("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert rows == [row(grant) for grant in database.grants]
