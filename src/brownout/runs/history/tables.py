"""The tables of a history. Times are UTC; a measure that never came is infinite: `never`."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

__all__ = ["SCHEMA", "impacts", "layout", "limits", "measures", "metadata", "runs", "versions"]

#: Of the tables; a history of a later one is not touched.
SCHEMA = 1

metadata = MetaData()

layout = Table("brownout_layout", metadata, Column("schema", Integer, nullable=False))

runs = Table(
    "brownout_runs",
    metadata,
    Column("run_id", String(200), primary_key=True),
    Column("began", DateTime(timezone=True), nullable=False, index=True),
    Column("scenario", String(200), nullable=False, index=True),
    Column("mode", String(100)),
    Column("cluster", String(200), nullable=False, index=True),
    Column("database", String(100)),
    Column("environment", String(100)),
    Column("stand_in", Boolean, nullable=False),
    Column("workload", String(200)),
    Column("seed", Integer),
    Column("verdict", String(20), nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("subject", JSON, nullable=False),
    Column("occasion", String(200)),  # what the run was a part of, a game day perhaps
    Column("path", Text, nullable=False),
)


def _of_run() -> Column[str]:
    """The run that a row belongs to; it goes with it."""
    run = ForeignKey(runs.c.run_id, ondelete="CASCADE")
    return Column("run_id", String(200), run, primary_key=True)


versions = Table(
    "brownout_versions",
    metadata,
    _of_run(),
    Column("name", String(100), primary_key=True),
    Column("version", String(200), nullable=False),
)

measures = Table(
    "brownout_measures",
    metadata,
    _of_run(),
    Column("scope", String(100), primary_key=True),
    Column("measure", String(100), primary_key=True),
    Column("value", Double),
    Column("never", Boolean, nullable=False),
)

limits = Table(
    "brownout_limits",
    metadata,
    _of_run(),
    Column("scope", String(100), primary_key=True),
    Column("measure", String(100), primary_key=True),
    Column("bound", Double, nullable=False),
    Column("direction", String(20), nullable=False),
    Column("met", Boolean),
)

impacts = Table("brownout_impacts", metadata, _of_run(), Column("impact", JSON, nullable=False))
