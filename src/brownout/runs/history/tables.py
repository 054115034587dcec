"""The tables of a history. Times are UTC; a measure that never came is infinite: `never`."""

__all__ = ["LAYOUT", "SCHEMA", "STATEMENTS"]

#: Of the tables; a history of a later one is not touched.
SCHEMA = 1

#: The table that says of which layout the history is.
LAYOUT = "brownout_layout"

#: The run that a row belongs to; it goes with it.
_OF_RUN = "run_id VARCHAR(200) NOT NULL REFERENCES brownout_runs (run_id) ON DELETE CASCADE"

#: What makes a history.
STATEMENTS = (
    f"CREATE TABLE {LAYOUT} (schema INTEGER NOT NULL)",
    f"INSERT INTO {LAYOUT} (schema) VALUES ({SCHEMA})",
    # `occasion` is what the run was a part of, a game day perhaps.
    """
    CREATE TABLE brownout_runs (
        run_id VARCHAR(200) NOT NULL,
        began TIMESTAMP WITH TIME ZONE NOT NULL,
        scenario VARCHAR(200) NOT NULL,
        mode VARCHAR(100),
        cluster VARCHAR(200) NOT NULL,
        database VARCHAR(100),
        environment VARCHAR(100),
        stand_in BOOLEAN NOT NULL,
        workload VARCHAR(200),
        seed INTEGER,
        verdict VARCHAR(20) NOT NULL,
        reasons JSON NOT NULL,
        subject JSON NOT NULL,
        occasion VARCHAR(200),
        path TEXT NOT NULL,
        PRIMARY KEY (run_id)
    )
    """,
    "CREATE INDEX ix_brownout_runs_began ON brownout_runs (began)",
    "CREATE INDEX ix_brownout_runs_cluster ON brownout_runs (cluster)",
    "CREATE INDEX ix_brownout_runs_scenario ON brownout_runs (scenario)",
    f"""
    CREATE TABLE brownout_versions (
        {_OF_RUN},
        name VARCHAR(100) NOT NULL,
        version VARCHAR(200) NOT NULL,
        PRIMARY KEY (run_id, name)
    )
    """,
    f"""
    CREATE TABLE brownout_measures (
        {_OF_RUN},
        scope VARCHAR(100) NOT NULL,
        measure VARCHAR(100) NOT NULL,
        value DOUBLE PRECISION,
        never BOOLEAN NOT NULL,
        PRIMARY KEY (run_id, scope, measure)
    )
    """,
    f"""
    CREATE TABLE brownout_limits (
        {_OF_RUN},
        scope VARCHAR(100) NOT NULL,
        measure VARCHAR(100) NOT NULL,
        bound DOUBLE PRECISION NOT NULL,
        direction VARCHAR(20) NOT NULL,
        met BOOLEAN,
        PRIMARY KEY (run_id, scope, measure)
    )
    """,
    f"CREATE TABLE brownout_impacts ({_OF_RUN}, impact JSON NOT NULL, PRIMARY KEY (run_id))",
)
