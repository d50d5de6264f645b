"""Graphs and compiling: does the cache hit, what does compiling cost, what is measured, recorded and held."""

from .board import BACKENDS, PODS, Board, Query, graph, heat_map, number, quantile, rate, ratio

COMPILE = "tensord_compile_duration_seconds"
HITS = f"sum(rate(tensord_graph_cache_hits_total{{{PODS}}}[$__rate_interval]))"
MISSES = f"sum(rate(tensord_graph_cache_misses_total{{{PODS}}}[$__rate_interval]))"
PER_SECOND = "[$__rate_interval]"


def _cache(board):
    board.add(6, 8, number(
        "How often is a graph already compiled?", "Lookups of a compiled graph that found one. A miss compiles: once per graph, shapes and "
        "device in a healthy daemon.", "percentunit", ratio(HITS, f"({HITS} + {MISSES})"),
        steps=((None, "red"), (0.8, "orange"), (0.95, "green")), decimals=1))
    board.add(9, 8, graph(
        "Does the cache thrash?", "Lookups per second that had to compile, and compiled graphs that were dropped for room. Both together, for "
        "long: --graph-cache-bytes is too small for what is in use.", "ops",
        Query(MISSES, "misses"),
        Query(f"sum(rate(tensord_graph_cache_evictions_total{{{PODS}}}{PER_SECOND}))", "evictions")))
    board.add(9, 8, graph(
        "How large is the cache?", "Graphs and compiled graphs, packed weights included; --graph-cache-bytes is its bound.", "bytes",
        Query(f"sum by (pod) (tensord_graph_cache_bytes{{{PODS}}})", "{{pod}}")))


def _compiling(board):
    board.row("Compiling")
    board.add(8, 9, graph(
        "How long does compiling take?", "p50 and p99 by phase: load decodes and checks a graph, plan infers, optimises and places it for "
        "given shapes, prepare packs weights and makes kernels.", "s",
        Query(quantile(0.5, COMPILE, PODS, "phase"), "{{phase}} p50"),
        Query(quantile(0.99, COMPILE, PODS, "phase"), "{{phase}} p99"), is_log=True))
    board.add(8, 9, heat_map(
        "When was something slow to compile?", "Compile phases per second in each bucket of their duration.", "s", COMPILE, PODS))
    board.add(8, 9, graph(
        "How much of a compiler thread is busy?", "Seconds of compiling per second, by phase: at --compile-threads the others wait.", "none",
        Query(rate(f"{COMPILE}_sum", PODS, "phase"), "{{phase}}"), stacked=True))


def _running(board):
    board.row("Programs and holdings")
    replays = f'{BACKENDS}, op="program_replay"'
    launches = f'{BACKENDS}, op!="program_replay"'
    board.add(12, 9, graph(
        "How many launches does a replay save?", "Launches of operators for each replay of a recorded program, by backend: each replay is one call to the "
        "driver. Backends that record no programs are not here.", "none",
        Query(ratio(rate("tensord_op_launches_total", launches, "backend"),
                    rate("tensord_op_launches_total", replays, "backend")), "{{backend}}")))
    board.add(12, 9, graph(
        "What do clients hold?", "Open sessions, those of connections included, and tensors that they keep between runs.", "none",
        Query(f"sum(tensord_sessions{{{PODS}}})", "sessions"),
        Query(f"sum(tensord_resident_tensors{{{PODS}}})", "tensors")))


def _tuning(board):
    board.row("Tuning (with --tuning)")
    board.add(8, 8, graph(
        "What does measuring decide?", "Nodes whose kernels were measured against each other, in the range that is shown: faster means that another "
        "than the first was chosen.", "none",
        Query(f"sum by (outcome) (increase(tensord_tuning_decisions_total{{{PODS}}}[$__range]))", "{{outcome}}")))
    board.add(8, 8, graph(
        "How much does measuring take from devices?", "Seconds of devices' time per second; --tuning-seconds-per-hour bounds it.", "percentunit",
        Query(f"sum by (pod) (rate(tensord_tuning_seconds_total{{{PODS}}}{PER_SECOND}))", "{{pod}}")))
    board.add(8, 8, graph(
        "Is every kernel within the tolerance?", "Kernels that were not chosen since their result was beyond the tolerance of the portable one's, in the range "
        "that is shown. Should stay 0: the log names each.", "none",
        Query(f"sum by (pod) (increase(tensord_tuning_disagreements_total{{{PODS}}}[$__range]))", "{{pod}}")))


def dashboard():
    board = Board("tensord-graphs", "graphs and compiling", __doc__, ["namespace", "pod", "backend"])
    _cache(board)
    _compiling(board)
    _running(board)
    _tuning(board)
    return board.build()
