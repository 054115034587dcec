"""What every part of a workload file is made of."""

from pydantic import BaseModel, ConfigDict

__all__ = ["Settings"]


class Settings(BaseModel):
    """Base of every part: unknown settings and wrong types are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
