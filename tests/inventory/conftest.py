"""What the settings of Atlas have in common with the tests of its client."""

from tests.atlas.conftest import spec_of

__all__ = ["spec_of"]
