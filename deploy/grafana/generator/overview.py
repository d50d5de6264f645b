"""Traffic, errors, latency, saturation: is all well, and if not, where to look."""

from .board import PODS, Board, Query, graph, heat_map, number, quantile, rate, ratio

RUNS = f'{PODS}, method=~"Execute|ModelInfer"'
OTHER_CALLS = f'{PODS}, method!~"Execute|ModelInfer|.*Stream.*|Wait.*|Watch.*"'
# What recording.yml counts as failed by our fault, and why not the others.
OUR_CODES = 'code=~"UNKNOWN|INTERNAL|UNAVAILABLE|DATA_LOSS"'


def _numbers(board):
    board.add(4, 4, number(
        "How many daemons answer?", "Daemons whose metrics page Prometheus could read.", "none",
        f"count(tensord_build_info{{{PODS}}})"))
    board.add(4, 4, number(
        "How many calls come in?", "Calls of all methods that ended, per second. A stream is one call.", "reqps",
        f"sum(rate(tensord_requests_total{{{PODS}}}[$__rate_interval]))"))
    board.add(4, 4, number(
        "What share of calls fails by our fault?",
        "UNKNOWN, INTERNAL, UNAVAILABLE and DATA_LOSS among all calls. What the client has to change, its own deadlines and "
        "RESOURCE_EXHAUSTED are not among them. The objective is 0.1 %.", "percentunit",
        # The second part gives a daemon that never failed a 0.
        ratio(f"sum(rate(tensord_requests_total{{{PODS}, {OUR_CODES}}}[$__rate_interval])\n"
              f"  or rate(tensord_requests_total{{{PODS}}}[$__rate_interval]) * 0)",
              f"sum(rate(tensord_requests_total{{{PODS}}}[$__rate_interval]))"),
        steps=((None, "green"), (0.001, "orange"), (0.01, "red")), decimals=2))
    board.add(4, 4, number(
        "How long does a single run take, at p99?",
        "Execute and ModelInfer, from the call's arrival at its handler to its answer. Between two edges of the histogram, a factor of "
        "four apart, a straight line is assumed.", "s", quantile(0.99, "tensord_request_duration_seconds", RUNS)))
    board.add(4, 4, number(
        "How many executions wait?", "For a lane of a device, now, over all devices.", "none",
        f"sum(tensord_queue_depth{{{PODS}}})", steps=((None, "green"), (1, "orange"))))
    board.add(4, 4, number(
        "How many alerts fire?", "Of the rules in deploy/prometheus; docs/operations.md has a paragraph for each.", "none",
        'count(ALERTS{alertname=~"Tensord.*", alertstate="firing", namespace=~"$namespace"})',
        steps=((None, "red"),), none="none"))


def _traffic(board):
    board.row("Traffic and errors")
    board.add(8, 8, graph(
        "Which methods are called?", "Calls that ended, per second, by method.", "reqps",
        Query(rate("tensord_requests_total", PODS, "method"), "{{method}}"), stacked=True))
    board.add(8, 8, graph(
        "How do calls end?", "Calls that ended, per second, by gRPC status code. OK is good; INVALID_ARGUMENT, NOT_FOUND and the like are "
        "the client's to mend; INTERNAL is a bug or a device fault.", "reqps",
        Query(rate("tensord_requests_total", PODS, "code"), "{{code}}"), stacked=True))
    board.add(8, 8, graph(
        "How do executions end?", "Executions that ended, per second, by their final state. Runs by handle and on streams are here too, "
        "while calls are what they were made with.", "ops",
        Query(rate("tensord_executions_total", PODS, "state"), "{{state}}"), stacked=True))


def _latency(board):
    board.row("Latency")
    board.add(8, 8, graph(
        "How long do single runs take?", "Execute and ModelInfer, as the daemon sees them: without the network and the client.", "s",
        Query(quantile(0.5, "tensord_request_duration_seconds", RUNS), "p50"),
        Query(quantile(0.9, "tensord_request_duration_seconds", RUNS), "p90"),
        Query(quantile(0.99, "tensord_request_duration_seconds", RUNS), "p99"), is_log=True))
    board.add(8, 8, heat_map(
        "Are there two kinds of runs?", "Single runs per second in each bucket of their duration. Two bands are two kinds of "
        "graphs, or a cache that is missed; p50 and p99 hide that.", "s", "tensord_request_duration_seconds", RUNS))
    # Phases by execution rather than by occurrence, so that the stack is a run's mean time.
    board.add(8, 8, graph(
        "Where does the time of a run go?", "Mean host time per execution by phase; the stack's height is an execution's mean time, "
        "waiting in the queue included. Phases do not overlap.", "s",
        Query(ratio(rate("tensord_execution_phase_duration_seconds_sum", PODS, "phase"),
                    f"on () group_left\nsum(rate(tensord_executions_total{{{PODS}}}[$__rate_interval]))"), "{{phase}}"),
        stacked=True))
    board.add(12, 7, graph(
        "How long do the other calls take, at p99?", "Calls that are neither runs nor streams nor waits, which last as long as their clients "
        "want.", "s",
        Query(quantile(0.99, "tensord_request_duration_seconds", OTHER_CALLS, "method"), "{{method}}"), is_log=True))
    board.add(12, 7, graph(
        "How large are requests?", "Bytes of the messages that a call sent, summed up over a stream.", "bytes",
        Query(quantile(0.5, "tensord_request_bytes", PODS, "method"), "{{method}} p50"),
        Query(quantile(0.99, "tensord_request_bytes", PODS, "method"), "{{method}} p99"), is_log=True))


def _saturation(board):
    board.row("Saturation")
    board.add(8, 8, graph(
        "Do executions wait?", "Executions that wait for a lane, by device.", "none",
        Query(f"sum by (pod, device) (tensord_queue_depth{{{PODS}}})", "{{pod}} {{device}}")))
    board.add(8, 8, graph(
        "How long do they wait?", "From admission to a lane; those that found one free are in it with 0.", "s",
        Query(quantile(0.5, "tensord_queue_wait_seconds", PODS, "device"), "{{device}} p50"),
        Query(quantile(0.99, "tensord_queue_wait_seconds", PODS, "device"), "{{device}} p99"), is_log=True))
    board.add(8, 8, graph(
        "Why are requests refused?", "Refusals per second by reason: queue_* and memory mean too little room, limit, quota and "
        "message_size are the client's to mend, draining is somebody's wish.", "reqps",
        Query(rate("tensord_rejections_total", PODS, "reason"), "{{reason}}"), stacked=True))
    board.add(8, 7, graph(
        "How many cores does a daemon use?", "User and system time per second of the process, all threads.", "none",
        Query(f"sum by (pod) (rate(process_cpu_seconds_total{{{PODS}, job=\"tensord\"}}[$__rate_interval]))", "{{pod}}")))
    board.add(8, 7, graph(
        "How much memory does a daemon use?", "Resident memory of the process; what graphs, tensors and uploads hold is in it, memory of "
        "GPUs is not.", "bytes",
        Query(f"max by (pod) (process_resident_memory_bytes{{{PODS}, job=\"tensord\"}})", "{{pod}}")))
    board.add(8, 7, graph(
        "What do clients leave in the daemon?", "Bytes of tensors that sessions hold between runs, of uploads under way, and of deleted "
        "tensors that a run still uses.", "bytes",
        Query(f"sum by (pod) (tensord_resident_bytes{{{PODS}}})", "{{pod}}")))


def dashboard():
    board = Board("tensord-overview", "overview", __doc__, ["namespace", "pod"])
    _numbers(board)
    _traffic(board)
    _latency(board)
    _saturation(board)
    return board.build()
