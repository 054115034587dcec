"""What a user of Couchbase needs: nothing is broken there, so all of it is for the load."""

from brownout.inventory.grants import EVERY_RUN, LOAD, Grant

__all__ = ["GRANTS"]

GRANTS = (
    Grant(
        acts=(EVERY_RUN, LOAD),
        privilege="the roles Data Reader, Data Writer and Views Admin on the bucket",
        statement=(
            "couchbase-cli user-manage --set --rbac-username {user} --roles "
            "data_reader[BUCKET],data_writer[BUCKET],views_admin[BUCKET]"
        ),
    ),
)
