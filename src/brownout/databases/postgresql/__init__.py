"""PostgreSQL under Patroni: a primary and its replicas, and a supervisor of each.

`adapter` joins the parts: `access` (how a member is reached), `link` (one member's Patroni, by its
REST API), `view` (what one member says of itself), `candidate` (one PostgreSQL, asked by itself
whether it accepts writes), `milestones` and `choice` (judging those, pure), `settings` and
`storage` (a member's own configuration, and where it keeps its data). `canary` is psycopg, as an
application has it, `options` is what a workload may say, `lab` makes clusters of processes here.
"""

import shlex
from collections.abc import Callable

from brownout.databases.postgresql.grants import GRANTS
from brownout.databases.postgresql.lab.settings import PostgresqlLab
from brownout.databases.postgresql.options import PostgresqlOptions
from brownout.inventory.database import Database, LabKind, Server, if_secure, later

__all__ = ["POSTGRESQL"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _find_patroni() -> str:
    from brownout.databases.postgresql.lab.server import find_patroni

    return shlex.join(find_patroni())


def _fetch(spec: PostgresqlLab, progress: Callable[[str], None]) -> None:
    from brownout.databases.postgresql.lab.release import fetch

    if spec.patroni:
        fetch(spec.patroni, progress)


POSTGRESQL = Database(
    name="postgresql",
    title="PostgreSQL",
    driver="postgresql",
    adapter="brownout.databases.postgresql.adapter:PostgresqlAdapter",
    extra="postgresql",
    canary="brownout.databases.postgresql.canary:PostgresqlCanary",
    options=PostgresqlOptions,
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
        )
    },
    grants=GRANTS,
    lab_server=later("brownout.databases.postgresql.lab.server:find_postgres"),
    server=Server(
        program="patroni",
        service="patroni",
        port=5432,
        config_file="/etc/patroni/config.yml",
        images=("postgres", "spilo"),
        hints=("# each node needs `host.server_directory`, PostgreSQL's data directory",),
    ),
    variables={
        "promoted_limit_s": "seconds to wait at most until another node is primary",
        "resume_after_s": "seconds that the old primary hangs once another node is primary",
    },
)
