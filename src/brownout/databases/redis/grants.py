"""What a user of Redis' ACL needs; `ask` are commands that change nothing for any user.

A node asks its ACL before it looks at a command's arguments. So a command with arguments that no
version takes is answered by NOPERM if the user does not have the right, and by another error if
it does. The rights to `ACL DRYRUN`, which Redis 6 does not have, are not needed for that.
"""

from brownout.inventory.grants import EVERY_RUN, LOAD, Grant

__all__ = ["GRANTS"]

_SET = "ACL SETUSER {user}"

GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="`~{namespace}/* +@read +@write +@scripting +@connection +cluster +command`",
        statement=(
            f"{_SET} ~{{namespace}}/* +@read +@write +@scripting +@connection +cluster +command"
        ),
        ask=(
            "GET {namespace}/may-we",
            "SET {namespace}/may-we 1 NONSENSE",
            "EVAL nonsense nonsense",
            "COMMAND COUNT",
        ),
    ),
    Grant(
        acts=(EVERY_RUN,),
        privilege="`+info +cluster`",
        statement=f"{_SET} +info +cluster",
        ask=("INFO server", "CLUSTER NODES"),
    ),
    Grant(
        acts=("stepdown",),
        privilege="`+cluster|failover`, which `+cluster` has in it",
        statement=f"{_SET} +cluster|failover",
        ask=("CLUSTER FAILOVER NONSENSE",),
    ),
    Grant(
        acts=("wipe",),
        privilege="`+config|get +cluster|meet +cluster|replicate +cluster|forget`",
        statement=f"{_SET} +config|get +cluster|meet +cluster|replicate +cluster|forget",
        ask=(
            "CONFIG GET dir",
            "CLUSTER MEET nonsense nonsense",
            "CLUSTER REPLICATE nonsense",
            "CLUSTER FORGET nonsense",
        ),
    ),
    Grant(
        acts=("slots",),
        privilege="`~* +migrate +restore-asking +cluster|setslot +cluster|getkeysinslot`",
        statement=f"{_SET} ~* +migrate +restore-asking +cluster|setslot +cluster|getkeysinslot",
        ask=(
            "CLUSTER SETSLOT 0 NONSENSE",
            "MIGRATE nonsense 0 may-we nonsense nonsense",
            "RESTORE-ASKING may-we nonsense nonsense",
        ),
    ),
)
