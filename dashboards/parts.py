"""What the dashboards are made of: queries, graphs, figures, variables, marks of faults."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from grafana_foundation_sdk.builders import common, prometheus, stat, statetimeline, timeseries
from grafana_foundation_sdk.builders import dashboard as grafana
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models

__all__ = ["Query", "board", "figure", "graph", "picked", "states", "window"]

#: Chosen by who looks, so that a file fits any Grafana.
SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
#: How often brownout is scraped by `brownout observe up`.
STEP = "1s"
WIDTH = 24


@dataclass(frozen=True)
class Query:
    """PromQL, and what each of its series is called: text with `{{label}}` in it."""

    expression: str
    legend: str = ""


def graph(
    title: str,
    unit: str,
    *queries: Query,
    note: str,
    width: int = 12,
    height: int = 8,
    fill: int = 0,
) -> timeseries.Panel:
    """A graph over time. A gap in the data is a gap in the line: no data is not 0."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(note)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .span(width)
        .height(height)
        .line_width(1)
        .fill_opacity(fill)
        .show_points(options.VisibilityMode.NEVER)
        .span_nulls(False)
        .tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI))
        .legend(
            common.VizLegendOptions()
            .display_mode(options.LegendDisplayMode.LIST)
            .placement(options.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs([])
        )
    )
    for number, query in enumerate(queries):
        panel = panel.with_target(_target(query, number).range().interval(STEP))
    return panel


def figure(
    title: str,
    unit: str,
    query: Query,
    *,
    note: str,
    names: bool = False,
    empty: str = "no data",
    width: int = 4,
    limit: float | None = None,
) -> stat.Panel:
    """The latest value as a figure, or with `names` the names of its series.

    `empty` is shown where there is none; from `limit` on it is red.
    """
    text = options.BigValueTextMode.NAME if names else options.BigValueTextMode.AUTO
    color = options.BigValueColorMode.NONE if limit is None else options.BigValueColorMode.VALUE
    panel = (
        stat.Panel()
        .title(title)
        .description(note)
        .datasource(SOURCE)
        .unit(unit)
        .span(width)
        .height(4)
        .no_value(empty)
        .text_mode(text)
        .color_mode(color)
        .graph_mode(options.BigValueGraphMode.NONE)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(_target(query, 0).instant())
    )
    return panel if limit is None else panel.thresholds(_thresholds(limit))


def states(title: str, *queries: Query, note: str, width: int = 24) -> statetimeline.Panel:
    """Which of several states it was when: a row a series, 1 while it holds."""
    panel = (
        statetimeline.Panel()
        .title(title)
        .description(note)
        .datasource(SOURCE)
        .unit("bool_yes_no")
        .span(width)
        .height(6)
        .show_value(options.VisibilityMode.NEVER)
        .merge_values(True)
        .row_height(0.8)
        .thresholds(_thresholds(0.5))
    )
    for number, query in enumerate(queries):
        panel = panel.with_target(_target(query, number).range().interval(STEP))
    return panel


def picked(
    name: str, label: str, query: str, *, regex: str = "", hidden: bool = False
) -> grafana.QueryVariable:
    """A variable whose values Prometheus knows, the latest first."""
    return (
        grafana.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .regex(regex)
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_DESC)
        .hide(models.VariableHide.HIDE_VARIABLE if hidden else models.VariableHide.DONT_HIDE)
    )


def window(default: Literal["2s", "5s", "10s"]) -> grafana.CustomVariable:
    """Over how long rates are taken: shorter shows more of a short dip, and more noise."""
    values = ("2s", "5s", "10s", "30s", "1m")
    chosen = models.VariableOption(selected=True, text=default, value=default)
    return (
        grafana.CustomVariable("window")
        .label("Rates over")
        .values(",".join(values))
        .current(chosen)
        .options([models.VariableOption(selected=v == default, text=v, value=v) for v in values])
    )


def board(
    uid: str,
    title: str,
    note: str,
    variables: Sequence[Any],
    rows: Sequence[tuple[str, Sequence[Any]]],
    *,
    marked: str,
    refresh: str = "",
    since: str = "now-15m",
) -> grafana.Dashboard:
    """A dashboard of `rows`, each a title and its panels; `marked` are the runs whose faults show.

    `marked` is the name of the variable that holds the run.
    """
    dashboard = (
        grafana.Dashboard(title)
        .uid(uid)
        .description(note)
        .tags(["brownout"])
        .timezone("browser")
        .time(since, "now")
        .refresh(refresh)
        .editable()
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .with_variable(_source())
        .annotation(_faults(marked))
        .annotation(_events(marked))
        .link(_to_others())
    )
    for variable in variables:
        dashboard = dashboard.with_variable(variable)
    for row, panels in rows:
        dashboard = dashboard.with_row(grafana.Row(row))
        for panel in panels:
            dashboard = dashboard.with_panel(panel)
    return dashboard


def _target(query: Query, number: int) -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .datasource(SOURCE)
        .ref_id(chr(ord("A") + number))
        .expr(query.expression)
        .legend_format(query.legend)
    )


def _thresholds(limit: float) -> grafana.ThresholdsConfig:
    steps = [models.Threshold(0, "green"), models.Threshold(limit, "red")]
    return grafana.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


def _source() -> grafana.DatasourceVariable:
    return grafana.DatasourceVariable("datasource").label("Prometheus").type("prometheus")


def _faults(run: str) -> grafana.AnnotationQuery:
    """Regions while something is broken, from brownout's own metric: works in any Grafana."""
    return (
        grafana.AnnotationQuery()
        .name("Broken")
        .datasource(SOURCE)
        .enable(True)
        .icon_color("red")
        .expr(f'brownout_fault_in_progress{{run="${run}"}} == 1')
    )


def _events(run: str) -> grafana.AnnotationQuery:
    """What brownout wrote to Grafana itself, with evidence; none without `observe.grafana`."""
    target = (
        grafana.AnnotationTarget().limit(500).match_any(False).tags(["brownout", f"${run}"])
    ).type("tags")
    return (
        grafana.AnnotationQuery()
        .name("Events with evidence")
        .datasource(models.DataSourceRef(type_val="grafana", uid="-- Grafana --"))
        .enable(True)
        .icon_color("blue")
        .target(target)
    )


def _to_others() -> grafana.DashboardLink:
    return (
        grafana.DashboardLink("brownout")
        .type(models.DashboardLinkType.DASHBOARDS)
        .tags(["brownout"])
        .as_dropdown(True)
        .include_vars(True)
        .keep_time(True)
        .icon("external link")
        .tooltip("")
        .url("")
        .target_blank(False)
    )
