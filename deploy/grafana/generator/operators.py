"""What each operator costs on each backend: time on the host and on the device, launches, kernels."""

from .board import (BACKENDS, OPS, PODS, Board, Query, graph, heat_map, mean, number, quantile, ranking, rate, ratio,
                    seconds_in_range, top)

HOST = "tensord_op_host_duration_seconds"
DEVICE = "tensord_op_device_duration_seconds"
LABELS = "op, backend"
NAME = "{{op}} on {{backend}}"
SAMPLED = "Of sampled executions, which stand for all."
ENQUEUE = "Where launches only enqueue (GPUs) this is the enqueue, not the work."


# What a table shows is of the whole range, not of its last moment.
WHOLE = {"window": "$__range"}


def _share(histogram):
    """Of the time of all operators on a backend, chosen or not."""
    return ratio(rate(f"{histogram}_sum", OPS, LABELS, **WHOLE),
                 f"on (backend) group_left\n{rate(f'{histogram}_sum', BACKENDS, 'backend', **WHOLE)}")


def _share_of_all(histogram):
    """Of the time on all chosen backends together, so that a stack of them ends at 1."""
    return ratio(rate(f"{histogram}_sum", OPS, LABELS), f"on () group_left\n{rate(f'{histogram}_sum', BACKENDS, '')}")


def _ranking(board):
    # By the device's clock where the backend has one: a GPU's host time says little of its work.
    share = f"({_share(DEVICE)})\nor on (backend)\n({_share(HOST)})"
    board.add(24, 10, ranking(
        "Which operators take the time?",
        "In the range that is shown. Share: of all operators' time on that backend, on the device where it has a clock of its own, else "
        f"on the host. Mean and p99 are of a launch. {SAMPLED} Launches are all of them.", ["op", "backend"], {
            "share": (share, "percentunit"),
            "launches": (rate("tensord_op_launches_total", OPS, LABELS, **WHOLE), "ops"),
            "host mean": (mean(HOST, OPS, LABELS, **WHOLE), "s"),
            "host p99": (quantile(0.99, HOST, OPS, LABELS, **WHOLE), "s"),
            "device mean": (mean(DEVICE, OPS, LABELS, **WHOLE), "s"),
            "device p99": (quantile(0.99, DEVICE, OPS, LABELS, **WHOLE), "s"),
        }, sorted_by="share"))
    board.add(12, 4, number(
        "How many launches do the samples stand for?", "Launches that were made for each one that was timed on the host. With "
        "--op-profile full it is 1; with sampled about --op-profile-sample-every; launches inside replayed programs "
        "are not timed on the host at all.", "none",
        ratio(f"sum(rate(tensord_op_launches_total{{{OPS}}}[$__rate_interval]))",
              f"sum(rate({HOST}_count{{{OPS}}}[$__rate_interval]))"), decimals=1))
    board.add(12, 4, number(
        "One execution in how many is timed?", "How op_profile is set: 0 counts nothing, 1 times every execution.", "none",
        f"max(tensord_op_profile_sample_every{{{PODS}}})", steps=((None, "red"), (1, "blue"))))


def _shares(board):
    board.row("Shares")
    board.add(12, 9, graph(
        "Which operators take the host's time?", f"The ten with the most, by share of all operators' host time on the chosen backends. {SAMPLED} "
        f"{ENQUEUE}", "percentunit",
        Query(top(10, _share_of_all(HOST), LABELS, seconds_in_range(HOST, OPS, LABELS)), NAME), stacked=True))
    board.add(12, 9, graph(
        "Which operators take the devices' time?", f"The same by the devices' own clocks, for backends that have one. {SAMPLED}",
        "percentunit",
        Query(top(10, _share_of_all(DEVICE), LABELS, seconds_in_range(DEVICE, OPS, LABELS)), NAME), stacked=True))


def _latencies(board, title, histogram, where):
    board.row(title)
    ranked_by = seconds_in_range(histogram, OPS, LABELS)
    board.add(8, 10, heat_map(
        f"How long do launches take {where}?", f"Launches of the chosen operators per second in each bucket. {SAMPLED} "
        "Choose one operator to see its own.", "s", histogram, OPS))
    board.add(8, 10, graph(
        f"How long does a typical launch take {where}?", f"p50 of the eight operators with the most time. {SAMPLED}", "s",
        Query(top(8, quantile(0.5, histogram, OPS, LABELS), LABELS, ranked_by), NAME), is_log=True))
    board.add(8, 10, graph(
        f"How long do the slowest launches take {where}?", f"p99 of the eight operators with the most time. {SAMPLED}", "s",
        Query(top(8, quantile(0.99, histogram, OPS, LABELS), LABELS, ranked_by), NAME), is_log=True))


def _host_against_device(board):
    board.row("Host against device")
    board.add(12, 9, graph(
        "Is the host or the device the slower one?", "Mean time of a launch, on the host and on the device, by backend. A GPU whose host time is "
        "the longer one waits for its launches: record programs, or batch.", "s",
        Query(mean(HOST, OPS, "backend"), "{{backend}} host"), Query(mean(DEVICE, OPS, "backend"), "{{backend}} device"),
        is_log=True))
    board.add(12, 9, graph(
        "How fast do bytes move through operators?", "Bytes of the operands that launches read and wrote, per second, of all launches: near "
        "the memory's bandwidth, a faster kernel does not help.", "Bps",
        Query(top(8, rate("tensord_op_bytes_total", OPS, LABELS), LABELS,
                  f"sum by ({LABELS}) (rate(tensord_op_bytes_total{{{OPS}}}[$__range] @ end()))"), NAME)))


def _launches(board):
    board.row("Launches")
    board.add(8, 10, graph(
        "What is launched?", "All launches per second, also those inside replayed programs, of the ten most launched operators.", "ops",
        Query(top(10, rate("tensord_op_launches_total", OPS, LABELS), LABELS,
                  f"sum by ({LABELS}) (rate(tensord_op_launches_total{{{OPS}}}[$__range] @ end()))"), NAME), stacked=True))
    board.add(8, 10, graph(
        "Which kernels run?", "All launches per second by kernel and dtype of the first output, the ten most launched.", "ops",
        Query(top(10, rate("tensord_kernel_launches_total", OPS, "op, backend, kernel, dtype"), "op, backend, kernel, dtype",
                  "sum by (op, backend, kernel, dtype) "
                  f"(rate(tensord_kernel_launches_total{{{OPS}}}[$__range] @ end()))"),
              "{{kernel}} {{dtype}} ({{op}})"), stacked=True))
    board.add(8, 10, graph(
        "Do launches fail?", "Launches that returned an error, per second. A fault that a device reports later is counted with the devices.",
        "ops", Query(rate("tensord_op_errors_total", OPS, LABELS), NAME)))


def dashboard():
    board = Board("tensord-operators", "operators", __doc__, ["namespace", "pod", "backend", "op"])
    _ranking(board)
    _shares(board)
    _latencies(board, "On the host", HOST, "on the host")
    _latencies(board, "On the device", DEVICE, "on the device")
    _host_against_device(board)
    _launches(board)
    return board.build()
