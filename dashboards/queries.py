"""PromQL that several dashboards share. `run` is a matcher's value, `$run` in most."""

__all__ = ["baseline", "failed", "offered", "ok", "percentile", "quantile_of", "verdict"]

SHIFT = " offset ${shift}ms"


def ok(run: str = "$run", window: str = "$window", *, op: str = "", shift: str = "") -> str:
    """Ok operations per second; of reads or writes only where `op` is a pattern."""
    return _rate("operations_total", run, window, _op(op) + ',outcome="ok"', shift)


def offered(run: str = "$run", window: str = "$window") -> str:
    """Operations per second that were to start."""
    return _rate("operations_offered_total", run, window)


def failed(by: str, run: str = "$run", window: str = "$window", *, shift: str = "") -> str:
    """Operations per second that were not ok, by a label."""
    inside = _selected("operations_total", run, ',outcome!="ok"', window, shift)
    return f"sum by ({by}) (rate({inside}))"


def baseline(run: str = "$run", *, shift: str = "") -> str:
    """The accepted baseline as a line."""
    return f'max(brownout_run_baseline_operations_per_second{{run="{run}"}}{shift})'


def percentile(
    ratio: float, run: str = "$run", window: str = "$window", *, op: str = "", shift: str = ""
) -> str:
    """Response time of ok operations, from the intended start; histograms are added first."""
    inside = _selected("response_time_seconds_bucket", run, _op(op), window, shift)
    return quantile_of(ratio, f"sum by (le) (rate({inside}))")


def quantile_of(ratio: float, buckets: str) -> str:
    """A percentile of added buckets."""
    return f"histogram_quantile({ratio:g}, {buckets})"


def verdict(run: str = "$run") -> str:
    """What the run came to, for whole of what is shown; `pending` until it is judged."""
    return f'last_over_time(brownout_run_verdict{{run="{run}"}}[$__range]) == 1'


#: The operations of a load that write, and those that do not.
READS, WRITES = "read|batch", "update|insert|increment|operate|vote"


def _op(pattern: str) -> str:
    return f',op=~"{pattern}"' if pattern else ""


def _rate(metric: str, run: str, window: str, more: str = "", shift: str = "") -> str:
    return f"sum(rate({_selected(metric, run, more, window, shift)}))"


def _selected(metric: str, run: str, more: str, window: str, shift: str) -> str:
    return f'brownout_{metric}{{run="{run}"{more}}}[{window}]{shift}'
