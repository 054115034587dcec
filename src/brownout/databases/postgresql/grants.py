"""What a login of PostgreSQL and Patroni needs; `ask` is a query, or a path of Patroni's API."""

from brownout.inventory.grants import LOAD, Grant

__all__ = ["GRANTS", "SWITCHOVER"]

SWITCHOVER = "switchover"

GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="`CREATE` on the database, or on a schema `{namespace}` of its own",
        statement='CREATE SCHEMA "{namespace}" AUTHORIZATION "{user}"',
        ask=(
            "SELECT has_database_privilege(current_database(), 'CREATE') OR coalesce("
            "has_schema_privilege(to_regnamespace('{namespace}')::oid, 'CREATE'), false)",
        ),
    ),
    Grant(
        acts=("stepdown",),
        privilege="the login of Patroni's REST API, where that has one",
        statement="`restapi.authentication` in Patroni's configuration: {user} and its password",
        ask=(SWITCHOVER,),
    ),
    Grant(
        acts=("wipe",),
        privilege="`pg_read_all_settings`, where a member's process cannot be seen",
        statement='GRANT pg_read_all_settings TO "{user}"',
    ),
)
