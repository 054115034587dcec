"""Whatever a file of another tool holds, it is read or refused in words, in bounded memory."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import answers, damaged, fuzzed
from tests.run.foreign.outputs import LINES, REQUESTS

from brownout.run.foreign import Options, read

SHORT = {
    name: ("\n".join(text.splitlines()[:12]) if len(text.splitlines()) > 12 else text, fault_at)
    for name, (_, text, fault_at) in {**LINES, **REQUESTS}.items()
}


@pytest.mark.parametrize("name", SHORT)
@fuzzed(in_ci=8)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, fault_at = SHORT[name]
    path: Path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(data.draw(damaged(text.encode())))
    asked = [Options(fault_at), Options(fault_at, gaps="zero"), Options(fault_at, gaps="unknown")]
    series = answers(lambda: read(path, data.draw(st.sampled_from(asked))))
    if series is not None:
        assert len(series.start) == len(series.end) == len(series.ok)
        assert series.start == sorted(series.start)
