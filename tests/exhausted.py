"""This process with nothing left of what the machine gives it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_file_left"]


@contextmanager
def no_file_left() -> Iterator[None]:
    """Leave this process no file that it could open, as a leak or a low `ulimit -n` does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
