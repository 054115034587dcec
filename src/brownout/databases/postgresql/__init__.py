"""PostgreSQL: a primary and its replicas, under Patroni, CloudNativePG's operator, or nothing.

`adapter` joins the parts: `access` (how a member is reached), `link` (one member's Patroni, by its
REST API), `view` (what one member says of itself), `candidate` (one PostgreSQL, asked by itself
whether it accepts writes), `milestones` and `choice` (judging those, pure), `settings` and
`storage` (a member's own configuration, and where it keeps its data). `adapters` chooses between
it, `streaming`, that of members which nothing supervises, and `instances`, that of CloudNativePG:
`instance` (one of its pods), `sql` (what a server says of itself) and `cloudnative` (its resource,
pure). `options` is what a workload may say, `lab` makes clusters of processes here.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from brownout.databases.postgresql import cloudnative
from brownout.databases.postgresql.grants import GRANTS
from brownout.databases.postgresql.lab.settings import PostgresqlLab, StreamingLab
from brownout.databases.postgresql.options import PostgresqlOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Operator, Server, if_secure, later

__all__ = ["POSTGRESQL"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _find_patroni() -> str:
    from brownout.databases.postgresql.lab.server import find_patroni

    return shlex.join(find_patroni())


def _fetch(spec: PostgresqlLab, progress: Callable[[str], None]) -> None:
    from brownout.databases.postgresql.lab.release import fetch

    if spec.patroni:
        fetch(spec.patroni, progress)


#: Percona's operator is made of Crunchy's.
_OF_CRUNCHY = "postgres-operator.crunchydata.com/cluster"
_WORDS = (
    *("postgres", "postgresql", "patroni", "repmgr", "cnpg", "pg", "edb"),
    *("pgvector", "postgis", "timescaledb"),  # extensions, whose images have the server
)
#: What the inventory of members says that nothing supervises.
_STREAMING: Mapping[str, Any] = {"streaming": {}}
_WITHOUT_PATRONI = (
    "it is not under Patroni, and brownout does not know what promotes it: in pods only "
    "CloudNativePG is supported (docs/postgresql.md#cloudnativepg)"
)

POSTGRESQL = Database(
    name="postgresql",
    title="PostgreSQL",
    driver="postgresql",
    adapter="brownout.databases.postgresql.adapters:postgresql_adapter",
    extra="postgresql",
    canary="postgresql.py",
    options=PostgresqlOptions,
    reading=reading,
    check_target=later("brownout.databases.postgresql.choice:TARGETS.check"),
    labs={
        "postgresql": LabKind(
            settings=PostgresqlLab,
            engine="brownout.databases.postgresql.lab.cluster",
            packages=if_secure("lab-postgresql"),
            programs={
                "Patroni": _find_patroni,
                "Patroni's store": later("brownout.databases.postgresql.lab.store:find_store"),
            },
            fetch=_fetch,
            start=later("brownout.databases.postgresql.lab.store:start"),
            stop=later("brownout.databases.postgresql.lab.store:stop"),
        ),
        "postgresql-streaming": LabKind(
            settings=StreamingLab, engine="brownout.databases.postgresql.lab.streaming"
        ),
    },
    grants=GRANTS,
    streams=True,
    lab_server=later("brownout.databases.postgresql.lab.server:find_postgres"),
    census=later("brownout.databases.postgresql.census:census"),
    server=Server(
        program="patroni",
        service="patroni",
        clients=("patronictl", "pg_isready", "psql"),
        port=5432,
        api_port=8008,
        config_file="/etc/patroni/config.yml",
        images=(
            Image(
                words=("spilo",),
                marks=("spilo", "pgroot"),
                process="patroni",
                config_file="/home/postgres/postgres.yml",
                server_directory="/home/postgres/pgdata/pgroot/data",
                variables={"PGROOT": "server_directory/data"},
            ),
            Image(
                words=_WORDS,
                marks=("patroni",),
                process="patroni",
                variables={
                    "PATRONI_POSTGRESQL_DATA_DIR": "server_directory",
                    "PGDATA": "server_directory",
                },
            ),
            Image(
                words=_WORDS,
                marks=("/controller/manager", "cloudnative-pg"),
                process="postgres",
                server_directory="/var/lib/postgresql/data/pgdata",
                variables={"PGDATA": "server_directory"},
            ),
            Image(
                words=_WORDS,
                marks=("bitnami", "repmgr_"),
                process="postgres",
                server_directory="/bitnami/postgresql/data",
                variables={"PGDATA": "server_directory"},
                note=_WITHOUT_PATRONI,
                settings=_STREAMING,
            ),
            Image(
                words=_WORDS,
                process="postgres",
                server_directory="/var/lib/postgresql/data",
                variables={"PGDATA": "server_directory"},
                note=_WITHOUT_PATRONI,
                settings=_STREAMING,
            ),
        ),
        programs=("postgres",),
        beside_words=("pgadmin", "pgbackrest", "pgbouncer", "pgpool", "walg"),
        hints=("# each node needs `host.server_directory`, PostgreSQL's data directory",),
    ),
    operators=(
        Operator(
            kind="cluster",
            short=("cnpg",),
            path="clusters",
            group=f"/apis/{cloudnative.GROUP}",
            label=cloudnative.LABEL,
            owns_pods=cloudnative.KIND,
            unrest=cloudnative.unrest,
        ),
        Operator(
            kind="postgrescluster",
            path="postgresclusters",
            group="/apis/postgres-operator.crunchydata.com/v1beta1",
            label=_OF_CRUNCHY,
        ),
        Operator(
            kind="perconapgcluster",
            path="perconapgclusters",
            group="/apis/pgv2.percona.com/v2",
            label=_OF_CRUNCHY,
        ),
        Operator(
            kind="postgresql",
            path="postgresqls",
            group="/apis/acid.zalan.do/v1",
            label="cluster-name",
        ),
    ),
    variables={
        "reaction_s": "seconds that people need before they promote a standby",
        "promoted_limit_s": "seconds to wait at most until another node is primary",
        "resume_after_s": "seconds that the old primary hangs once another node is primary",
    },
)
