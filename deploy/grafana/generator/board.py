"""What the dashboards share: selectors, variables, kinds of panels, their places."""

from grafana_foundation_sdk.builders import common, dashboard, heatmap, prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import heatmap as heatmap_models
from grafana_foundation_sdk.models import prometheus as prometheus_models

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
COLUMNS = 24

# The label matchers of what a viewer has chosen. A device's name is BACKEND:ORDINAL.
PODS = 'namespace=~"$namespace", pod=~"$pod"'
BACKENDS = f'{PODS}, backend=~"$backend"'
OPS = f'{BACKENDS}, op=~"$op"'
DEVICES = f'{PODS}, device=~"($backend):.*"'


def rate(metric, selector, by, window="$__rate_interval"):
    """Per second, summed up by these labels."""
    return f"sum by ({by}) (rate({metric}{{{selector}}}[{window}]))"


def ratio(numerator, denominator):
    return f"{numerator}\n/\n{denominator}"


def mean(histogram, selector, by, **window):
    """Of a histogram: what one observation had on average. Sum by count, never a sum alone, which is busy time."""
    return ratio(rate(f"{histogram}_sum", selector, by, **window), rate(f"{histogram}_count", selector, by, **window))


def quantile(q, histogram, selector, by="", **window):
    labels = f"{by}, le" if by else "le"
    return f"histogram_quantile({q}, {rate(f'{histogram}_bucket', selector, labels, **window)})"


def top(count, expression, by, ranked_by):
    """The series of `expression` whose labels `by` are among the highest of `ranked_by`, which is the same at all instants.

    A topk of each instant would show other series at each of them.
    """
    return f"({expression})\nand on ({by}) topk({count}, {ranked_by})"


def seconds_in_range(histogram, selector, by):
    """For `top`: by the time that they took in the whole range that is shown."""
    return f"sum by ({by}) (rate({histogram}_sum{{{selector}}}[$__range] @ end()))"


class Query:
    def __init__(self, expression, legend):
        self.expression, self.legend = expression, legend

    def build(self, ref, form=prometheus_models.PromQueryFormat.TIME_SERIES, is_instant=False):
        query = (prometheus.Dataquery().ref_id(ref).expr(self.expression).legend_format(self.legend)
                 .datasource(SOURCE).format(form))
        return query.instant() if is_instant else query.range()


def _with_queries(panel, queries, **how):
    for index, query in enumerate(queries):
        panel = panel.with_target(query.build(chr(ord("A") + index), **how))
    return panel


def _started(panel, title, description, unit):
    return panel.title(title).description(description).unit(unit).datasource(SOURCE)


def _steps(steps):
    """From (value or None, colour) in rising order."""
    return (dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE)
            .steps([models.Threshold(value=value, color=colour) for value, colour in steps]))


def number(title, description, unit, expression, steps=((None, "blue"),), none=None, decimals=None):
    """One figure, coloured by `steps`, with its course behind it."""
    panel = (_started(stat.Panel(), title, description, unit).thresholds(_steps(steps))
             .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
             .graph_mode(common_models.BigValueGraphMode.AREA)
             .color_mode(common_models.BigValueColorMode.VALUE))
    if none is not None:
        panel = panel.no_value(none)
    if decimals is not None:
        panel = panel.decimals(decimals)
    return _with_queries(panel, [Query(expression, "")])


def graph(title, description, unit, *queries, stacked=False, is_log=False, highest=None):
    """Lines over time; stacked areas for parts of a whole."""
    panel = (_started(timeseries.Panel(), title, description, unit)
             .line_width(1).fill_opacity(30 if stacked else 0).show_points(common_models.VisibilityMode.NEVER)
             .legend(common.VizLegendOptions().show_legend(True).display_mode(common_models.LegendDisplayMode.TABLE)
                     .placement(common_models.LegendPlacement.BOTTOM).calcs(["mean", "lastNotNull"]))
             .tooltip(common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI)
                      .sort(common_models.SortOrder.DESCENDING)))
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL)).min(0)
    elif is_log:
        # From microseconds to seconds: on a linear axis all but the slowest are at the bottom.
        panel = panel.scale_distribution(
            common.ScaleDistributionConfig().type(common_models.ScaleDistribution.LOG).log(10))
    else:
        panel = panel.min(0)
    if highest is not None:
        panel = panel.max(highest)
    return _with_queries(panel, queries)


def heat_map(title, description, unit, histogram, selector):
    """A histogram over time, in its own buckets, whatever edges these have."""
    panel = (_started(heatmap.Panel(), title, description, unit).calculate(False)
             .y_axis(heatmap.YAxisConfig().unit(unit))
             .color(heatmap.HeatmapColorOptions().mode(heatmap_models.HeatmapColorMode.SCHEME).scheme("Oranges")
                    .steps(64).exponent(0.5))
             .cell_gap(1).show_legend().show_tooltip())
    return _with_queries(panel, [Query(rate(f"{histogram}_bucket", selector, "le"), "{{le}}")],
                         form=prometheus_models.PromQueryFormat.HEATMAP)


def states(title, description, expression, legend, names):
    """Bars over time, one for each series. `names`: value to (text, colour)."""
    mapping = models.ValueMap(options={
        value: models.ValueMappingResult(text=text, color=colour, index=index)
        for index, (value, (text, colour)) in enumerate(names.items())})
    panel = (_started(statetimeline.Panel(), title, description, "none").mappings([mapping]).merge_values(True)
             .show_value(common_models.VisibilityMode.AUTO).fill_opacity(70))
    return _with_queries(panel, [Query(expression, legend)])


def ranking(title, description, labels, columns, sorted_by):
    """A table of one instant, a row for each set of `labels`. `columns`: name to (expression, unit), the first's unit the panel's."""
    first_unit = next(iter(columns.values()))[1]
    panel = _started(table.Panel(), title, description, first_unit)
    renamed = {}
    for index, (name, (expression, unit)) in enumerate(columns.items()):
        ref = chr(ord("A") + index)
        panel = panel.with_target(Query(expression, "").build(
            ref, form=prometheus_models.PromQueryFormat.TABLE, is_instant=True))
        panel = panel.override_by_name(name, [models.DynamicConfigValue(id_val="unit", value=unit)])
        # The name that "merge" gives to a query's values.
        renamed[f"Value #{ref}"] = name
    order = {label: index for index, label in enumerate([*labels, *renamed])}
    return (panel.with_transformation(models.DataTransformerConfig(id_val="merge", options={}))
            .with_transformation(models.DataTransformerConfig(id_val="organize", options={
                "excludeByName": {"Time": True}, "indexByName": order, "renameByName": renamed}))
            .sort_by([common.TableSortByFieldState().display_name(sorted_by).desc(True)]))


def _choice(name, label, description, query):
    """A variable of label values, all of them at first. ".*" also takes series without the label, which a scrape without
    namespaces has."""
    return (dashboard.QueryVariable(name).label(label).description(description).datasource(SOURCE).query(query)
            .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(models.VariableSort.ALPHABETICAL_ASC)
            .multi(True).include_all(True).all_value(".*")
            .current(models.VariableOption(selected=True, text="All", value="$__all")))


_CHOICES = {
    "namespace": ("Namespace", "Of Kubernetes, or what the scrape configuration says", "label_values(tensord_build_info, namespace)"),
    "pod": ("Pod", "One daemon each", 'label_values(tensord_build_info{namespace=~"$namespace"}, pod)'),
    "backend": ("Backend", "cpu, cuda, vulkan, null",
                f"label_values(tensord_op_launches_total{{{PODS}}}, backend)"),
    "op": ("Operator", "ONNX's names, and tensord's own for fused ones",
           f"label_values(tensord_op_launches_total{{{BACKENDS}}}, op)"),
}


class Board:
    """A dashboard that is filled from left to right and from top to bottom."""

    def __init__(self, uid, title, description, variables):
        self._dashboard = (
            dashboard.Dashboard(f"tensord: {title}").uid(uid).description(description).tags(["tensord"])
            .time("now-1h", "now").refresh("30s").timezone("browser").readonly()
            .tooltip(models.DashboardCursorSync.CROSSHAIR)
            .link(dashboard.DashboardLink("tensord").type(models.DashboardLinkType.DASHBOARDS).tags(["tensord"])
                  .as_dropdown(True).include_vars(True).keep_time(True))
            .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")))
        for name in variables:
            self._dashboard = self._dashboard.with_variable(_choice(name, *_CHOICES[name]))
        self._x, self._y, self._height, self._id = 0, 0, 0, 0

    def _next_id(self):
        self._id += 1
        return self._id

    def _end_line(self):
        self._x, self._y, self._height = 0, self._y + self._height, 0

    def row(self, title):
        self._end_line()
        place = models.GridPos(x=0, y=self._y, w=COLUMNS, h=1)
        self._dashboard.with_row(dashboard.Row(title).id(self._next_id()).grid_pos(place))
        self._y += 1

    def add(self, width, height, panel):
        if self._x + width > COLUMNS:
            self._end_line()
        place = models.GridPos(x=self._x, y=self._y, w=width, h=height)
        self._dashboard.with_panel(panel.id(self._next_id()).grid_pos(place))
        self._x += width
        self._height = max(self._height, height)

    def build(self):
        return self._dashboard.build()
