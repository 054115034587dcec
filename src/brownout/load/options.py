"""What a workload may tell a database's driver, under `options: {<driver>: {…}}`.

Each database has a model of its own for that. A setting that is left out falls to the inventory's,
then to the driver package's own default; that default is named there for the reader and lives in
the generator. The settings in effect are recorded in `generator.json`.
"""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, create_model

from brownout.inventory.database import databases
from brownout.load.workload_base import Settings

__all__ = ["DriverOptions"]


class _DriverOptions(Settings):
    """One entry a driver; only the one of the cluster's database is used."""


if TYPE_CHECKING:
    DriverOptions = _DriverOptions
else:
    DriverOptions = create_model(
        "DriverOptions",
        __base__=_DriverOptions,
        __doc__=_DriverOptions.__doc__,
        **{
            one.driver: (
                Annotated[one.options, Field(description=f"policies of the {one.driver} driver")],
                one.options(),
            )
            for one in databases().values()
            if one.options is not None
        },
    )
