"""Draws dashboards as Grafana would lay them out, from answers of Prometheus, with matplotlib: a PNG for each.

Not Grafana's rendering: enough of it that a person sees what each panel would show.
"""

import math
import re
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import numpy
from matplotlib import colors, gridspec, ticker
from PIL import Image

COLUMNS = 24
INCHES_PER_COLUMN, INCHES_PER_LINE = 0.72, 0.4
GRID = "#d8dce2"
STAT_COLOURS = {"green": "#2f8f4e", "orange": "#d9730d", "red": "#c4162a", "blue": "#1f60c4"}
# Series shown in a legend; the rest are drawn without a name.
LEGEND_LINES = 6
# Cells of a heat map in a line, at most: narrower ones are nothing but their edges.
HEAT_COLUMNS = 48


def _scaled(value, steps):
    """`value` in the largest unit that it reaches: (factor, name) from large to small."""
    for factor, name in steps:
        if abs(value) >= factor:
            return f"{value / factor:.3g} {name}"
    factor, name = steps[-1]
    return f"{value / factor:.3g} {name}"


_SECONDS = [(1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
_BYTES = [(2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")]
_THOUSANDS = [(1e9, "G"), (1e6, "M"), (1e3, "K"), (1, "")]
_SUFFIXES = {"reqps": "req/s", "ops": "ops/s"}


def text_of(value, unit):
    """As Grafana writes a value with this unit."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    if unit == "s":
        return _scaled(value, _SECONDS)
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    if unit in ("bytes", "Bps"):
        return _scaled(value, _BYTES) + ("/s" if unit == "Bps" else "")
    steps = _THOUSANDS if abs(value) >= 1000 else [(1, "")]
    return " ".join(part for part in (_scaled(value, steps).strip(), _SUFFIXES.get(unit, "")) if part)


def _legend(query, labels):
    if not query.legend:
        return ""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match.group(1), ""), query.legend).strip()


def _clock(seconds, _):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _place_ticks(axes, unit, is_log):
    """At round values of the unit: powers of two for bytes."""
    is_binary = unit in ("bytes", "Bps")
    highest = axes.get_ylim()[1]
    if is_log:
        axes.yaxis.set_major_locator(ticker.LogLocator(base=16 if is_binary else 10, numticks=8))
        axes.yaxis.set_minor_locator(ticker.NullLocator())
    elif is_binary and highest > 8:
        axes.yaxis.set_major_locator(ticker.MultipleLocator(2 ** math.floor(math.log2(highest / 3))))
    else:
        axes.yaxis.set_major_locator(ticker.MaxNLocator(5))


class Painter:
    def __init__(self, start, end):
        self._start, self._end = start, end

    def _times(self):
        return numpy.arange(0, math.floor(self._end - self._start) + 1)

    def _aligned(self, points):
        """Values at each second from the start, NaN where there is none."""
        values = numpy.full(len(self._times()), numpy.nan)
        for when, value in points:
            index = round(when - self._start)
            if 0 <= index < len(values) and math.isfinite(value):
                values[index] = value
        return values

    def _series(self, answers):
        """(name, values) of all queries, the largest first."""
        found = [(_legend(query, labels), self._aligned(points))
                 for query, answer, _ in answers for labels, points in answer]
        found = [(name, values) for name, values in found if not numpy.isnan(values).all()]
        return sorted(found, key=lambda pair: -numpy.nanmean(pair[1]))

    def _time_axis(self, axes):
        axes.set_xlim(0, self._end - self._start)
        axes.xaxis.set_major_locator(ticker.MaxNLocator(6, integer=True))
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(_clock))
        axes.tick_params(labelsize=7, length=2, color=GRID)
        axes.grid(color=GRID, linewidth=0.5)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set_color(GRID)

    def timeseries(self, axes, panel, answers, unit):
        custom = panel["fieldConfig"]["defaults"].get("custom", {})
        is_log = custom.get("scaleDistribution", {}).get("type") == "log"
        is_stacked = custom.get("stacking", {}).get("mode") == "normal"
        series = self._series(answers)
        palette = pyplot.get_cmap("tab20" if len(series) > 10 else "tab10").colors
        shown = [colour for colour, _ in zip(palette * (1 + len(series) // len(palette)), series)]
        if is_stacked:
            axes.stackplot(self._times(), [numpy.nan_to_num(values) for _, values in series], colors=shown, alpha=0.75,
                           linewidth=0)
        else:
            for colour, (_, values) in zip(shown, series):
                axes.plot(self._times(), values, color=colour, linewidth=1.3)
        if is_log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
            if axes.get_ylim()[1] < 1e-9 or all(numpy.nanmax(values) == 0 for _, values in series):
                axes.set_ylim(0, 1)
            if panel["fieldConfig"]["defaults"].get("max") is not None:
                axes.set_ylim(top=panel["fieldConfig"]["defaults"]["max"])
        _place_ticks(axes, unit, is_log)
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: text_of(value, unit)))
        self._time_axis(axes)
        handles = [pyplot.Line2D([], [], color=colour, linewidth=3) for colour in shown[:LEGEND_LINES]]
        names = [f"{name}  {text_of(numpy.nanmean(values), unit)}" for name, values in series[:LEGEND_LINES]]
        if len(series) > LEGEND_LINES:
            handles.append(pyplot.Line2D([], [], linewidth=0))
            names.append(f"and {len(series) - LEGEND_LINES} more")
        axes.legend(handles, names, loc="upper left", bbox_to_anchor=(0, -0.1), ncol=2, fontsize=6.5, frameon=False,
                    borderaxespad=0, handlelength=1.2, columnspacing=1.2, labelspacing=0.25)

    def heatmap(self, axes, panel, answers, unit):
        query, answer, _ = answers[0]
        rows = sorted(((float(labels["le"]), self._aligned(points)) for labels, points in answer), key=lambda row: row[0])
        cumulative = numpy.nan_to_num(numpy.array([values for _, values in rows]))
        cells = numpy.maximum(numpy.diff(cumulative, axis=0, prepend=0), 0)
        width = math.ceil(cells.shape[1] / HEAT_COLUMNS)
        starts = numpy.arange(0, cells.shape[1], width)
        edges = numpy.append(starts, cells.shape[1])
        cells = numpy.add.reduceat(cells, starts, axis=1) / numpy.diff(edges)
        used = numpy.flatnonzero(cells.sum(axis=1))
        low, high = max(0, used.min() - 1), min(len(rows), used.max() + 2)
        shown = numpy.ma.masked_less_equal(cells[low:high], 0)
        mesh = axes.pcolormesh(edges, numpy.arange(high - low + 1), shown,
                               cmap="Oranges", norm=colors.PowerNorm(0.5, vmin=0), edgecolors="white", linewidth=0.05)
        axes.set_yticks(numpy.arange(high - low) + 1, ["∞" if math.isinf(edge) else text_of(edge, unit)
                                                       for edge, _ in rows[low:high]])
        self._time_axis(axes)
        axes.grid(False)
        bar = axes.figure.colorbar(mesh, ax=axes, fraction=0.04, pad=0.02)
        bar.ax.tick_params(labelsize=6, length=0)
        bar.outline.set_visible(False)

    def stat(self, axes, panel, answers, unit):
        series = self._series(answers)
        values = series[0][1]
        last = values[~numpy.isnan(values)][-1]
        colour = "blue"
        for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", []):
            if step["value"] is None or last >= step["value"]:
                colour = step["color"]
        axes.set_axis_off()
        course = axes.inset_axes([0, 0, 1, 0.4])
        course.set_axis_off()
        course.fill_between(self._times(), numpy.nan_to_num(values), color=STAT_COLOURS[colour], alpha=0.15, linewidth=0)
        course.set_ylim(0, max(1e-12, numpy.nanmax(values) * 1.05))
        course.set_xlim(0, self._times()[-1])
        axes.text(0.5, 0.5, text_of(last, unit), transform=axes.transAxes, ha="center", va="center", fontsize=20,
                  color=STAT_COLOURS[colour], fontweight="bold")

    def table(self, axes, panel, answers, _):
        names = next(t["options"]["renameByName"] for t in panel["transformations"] if t["id"] == "organize")
        units = {override["matcher"]["options"]: override["properties"][0]["value"]
                 for override in panel["fieldConfig"]["overrides"]}
        columns, rows = list(names.values()), {}
        for column, (_, answer, _) in zip(columns, answers):
            for labels, points in answer:
                rows.setdefault(tuple(sorted(labels.items())), {})[column] = points[-1][1]
        by = panel["options"]["sortBy"][0]["displayName"]
        rows = sorted(rows.items(), key=lambda row: -row[1].get(by, -1) if math.isfinite(row[1].get(by, -1)) else 1)
        labels = [name for name in next(t["options"]["indexByName"] for t in panel["transformations"]
                                        if t["id"] == "organize") if not name.startswith("Value #")]
        axes.set_axis_off()
        cells = [[dict(key).get(label, "") for label in labels] +
                 [text_of(row.get(column, math.nan), units[column]) for column in columns] for key, row in rows[:12]]
        made = axes.table(cells, colLabels=[*labels, *columns], loc="upper left", cellLoc="left", bbox=[0, 0, 1, 1])
        made.auto_set_font_size(False)
        made.set_fontsize(8.5)
        for (line, _), cell in made.get_celld().items():
            cell.set_edgecolor(GRID)
            if line == 0:
                cell.set_text_props(fontweight="bold")

    def state_timeline(self, axes, panel, answers, _):
        texts = {value: (result["text"], result["color"]) for mapping in panel["fieldConfig"]["defaults"]["mappings"]
                 for value, result in mapping["options"].items()}
        series = sorted(self._series(answers))
        for line, (name, values) in enumerate(series):
            for value, (text, colour) in texts.items():
                at = self._times()[values == float(value)]
                axes.barh(line, numpy.ones(len(at)), left=at - 0.5, height=0.7, color=STAT_COLOURS[colour], alpha=0.7, linewidth=0)
                if len(at):
                    axes.text(at.mean(), line, text, ha="center", va="center", fontsize=8, color="white")
        axes.set_yticks(range(len(series)), [name for name, _ in series])
        self._time_axis(axes)

    def paint(self, axes, panel, answers):
        if not any(answer for _, answer, _ in answers):
            reasons = sorted({reason for _, _, reason in answers if reason})
            none = panel["fieldConfig"]["defaults"].get("noValue", "No data")
            axes.set_axis_off()
            axes.text(0.5, 0.5, "\n".join([none, *(f"({reason})" for reason in reasons)]), ha="center", va="center",
                      fontsize=9, color="#6b7280", transform=axes.transAxes)
            return
        draw = getattr(self, panel["type"].replace("-", "_"))
        draw(axes, panel, answers, panel["fieldConfig"]["defaults"].get("unit", "none"))


def draw_dashboard(dashboard, answers, start, end, path):
    panels = dashboard["panels"]
    lines = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    figure = pyplot.figure(figsize=(COLUMNS * INCHES_PER_COLUMN, lines * INCHES_PER_LINE + 0.5), facecolor="#f4f5f5")
    grid = gridspec.GridSpec(lines, COLUMNS, figure=figure, left=0.01, right=0.99, bottom=0.005, hspace=0, wspace=0,
                             top=1 - 0.5 / (lines * INCHES_PER_LINE + 0.5))
    figure.text(0.012, 1 - 0.18 / figure.get_figheight(), dashboard["title"], fontsize=13, fontweight="bold", va="center")
    painter = Painter(start, end)
    for panel in panels:
        place = panel["gridPos"]
        frame = figure.add_subplot(grid[place["y"]:place["y"] + place["h"], place["x"]:place["x"] + place["w"]])
        frame.set_axis_off()
        box = frame.get_position()
        wide, high = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
        if panel["type"] == "row":
            frame.text(0.003, 0.4, panel["title"], fontsize=10.5, fontweight="bold", va="center", transform=frame.transAxes)
            continue
        frame.add_patch(pyplot.Rectangle((0.04 / wide, 0.04 / high), 1 - 0.08 / wide, 1 - 0.08 / high, facecolor="white",
                                         edgecolor=GRID, transform=frame.transAxes, clip_on=False))
        title = "\n".join(textwrap.wrap(panel["title"], int(wide * 12.5)))
        frame.text(0.12 / wide, 1 - 0.22 / high, title, fontsize=9, fontweight="bold", va="center", transform=frame.transAxes)
        needs_axes = panel["type"] in ("timeseries", "heatmap", "state-timeline")
        left = (1.0 if panel["type"] == "state-timeline" else 0.75) if needs_axes else 0.15
        # Below a graph there is room for its legend.
        bottom = {"timeseries": 0.85, "heatmap": 0.35, "state-timeline": 0.35}.get(panel["type"], 0.12)
        inner = figure.add_axes([box.x0 + left / figure.get_figwidth(), box.y0 + bottom / figure.get_figheight(),
                                 box.width - (left + 0.2) / figure.get_figwidth(),
                                 box.height - (bottom + 0.45) / figure.get_figheight()])
        painter.paint(inner, panel, answers.get(panel["id"], []))
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
    # A third of the bytes, and no difference that is seen.
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def draw_all(dashboards, answers, start, end, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, dashboard in dashboards.items():
        path = folder / f"grafana-{name}.png"
        draw_dashboard(dashboard, answers[name], start, end, path)
        print(f"drawn: {path}")
