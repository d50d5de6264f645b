"""What each device does: health, lanes, queues, memory, transfers, faults."""

from .board import BACKENDS, DEVICES, Board, Query, graph, number, quantile, rate, ratio, states

NAME = "{{pod}} {{device}}"


def _of_device(metric, selector=DEVICES):
    return f"sum by (pod, device) ({metric}{{{selector}}})"


def _health(board):
    board.add(16, 6, states(
        "Which devices take executions?", "Down is drained on purpose or quarantined after a fault: the log and tensordctl devices tell "
        "which.", f"max by (pod, device) (tensord_device_up{{{DEVICES}}})", NAME,
        {"0": ("down", "red"), "1": ("up", "green")}))
    board.add(4, 6, number(
        "How many devices are down?", "Of those that a daemon was started with.", "none",
        f"count(tensord_device_up{{{DEVICES}}}) - sum(tensord_device_up{{{DEVICES}}})",
        steps=((None, "green"), (1, "red"))))
    board.add(4, 6, number(
        "How many faults were there?", "That devices or their drivers reported, in the range that is shown.", "none",
        f"sum(increase(tensord_device_faults_total{{{DEVICES}}}[$__range]))", steps=((None, "green"), (1, "red"))))


def _work(board):
    board.row("Lanes and queues")
    board.add(8, 8, graph(
        "How busy are the lanes?", "Executions that hold a lane of the device, of the lanes that it has. At 1 the next one waits.",
        "percentunit",
        Query(ratio(_of_device("tensord_executions_in_flight"), _of_device("tensord_device_lanes")), NAME), highest=1))
    board.add(8, 8, graph(
        "How full is the queue?", "Executions that wait for a lane, of those that may (--max-queue-length). At 1 the next one is refused.",
        "percentunit",
        Query(ratio(_of_device("tensord_queue_depth"), _of_device("tensord_queue_limit")), NAME), highest=1))
    board.add(8, 8, graph(
        "How many bytes wait?", "Inputs of the executions that wait. At --max-queued-bytes the next one is refused.", "bytes",
        Query(_of_device("tensord_queue_bytes"), NAME)))
    board.add(8, 8, graph(
        "How long is the wait?", "From admission to a lane, p50 and p99 by device; 0 for those that found one free.", "s",
        Query(quantile(0.5, "tensord_queue_wait_seconds", DEVICES, "device"), "{{device}} p50"),
        Query(quantile(0.99, "tensord_queue_wait_seconds", DEVICES, "device"), "{{device}} p99"), is_log=True))
    board.add(8, 8, graph(
        "How many executions start?", "Executions that got a lane, per second, by device.", "ops",
        Query(rate("tensord_queue_wait_seconds_count", DEVICES, "pod, device"), NAME)))
    board.add(8, 8, graph(
        "What do executions do, by backend?", "Mean host time of a phase where it occurred. wait is the host's wait for its device: long beside run "
        "means that the device is what takes the time.", "s",
        Query(ratio(rate("tensord_execution_phase_duration_seconds_sum", BACKENDS, "phase, backend"),
                    rate("tensord_execution_phase_duration_seconds_count", BACKENDS, "phase, backend")),
              "{{phase}} on {{backend}}"), is_log=True))


def _memory(board):
    board.row("Memory and transfers")
    board.add(8, 8, graph(
        "How full is each device's memory?", "Used bytes of the bytes that the daemon may use. Near 1, runs that need more are refused.",
        "percentunit",
        Query(ratio(_of_device("tensord_device_memory_bytes", f'{DEVICES}, kind="used"'),
                    _of_device("tensord_device_memory_bytes", f'{DEVICES}, kind="limit"')), NAME), highest=1))
    board.add(8, 8, graph(
        "What is the memory used for?", "used is all that the daemon has allocated on the device; weights, constants of graphs, are a part of "
        "it and are there once for all graphs with the same bytes.", "bytes",
        Query(f'sum by (pod, device, kind) (tensord_device_memory_bytes{{{DEVICES}, kind!="limit"}})',
              "{{pod}} {{device}} {{kind}}")))
    board.add(8, 8, graph(
        "How much is copied to and from devices?", "Bytes per second: upload to the device, download from it, peer from another device. Devices that "
        "compute in the host's memory copy nothing and are not here.", "Bps",
        Query(rate("tensord_transfer_bytes_total", DEVICES, "device, direction"), "{{device}} {{direction}}")))


def dashboard():
    board = Board("tensord-devices", "devices", __doc__, ["namespace", "pod", "backend"])
    _health(board)
    _work(board)
    _memory(board)
    return board.build()
