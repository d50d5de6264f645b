"""Whether Prometheus has what the daemon itself says: counters and histograms exactly, rules of shares and quantiles nearly."""

import collections

# A rule's window begins before a series does, and rate() does not see what a series began with: with a scrape a second, its
# share of the whole is small.
SHARE_TOLERANCE = 0.05
# Below, that first value is a large share: null launches take 20 ns, and the first one of a kind a microsecond.
MIN_SHARED_NS = 100e6


def _by(prometheus, expression, *labels):
    return {tuple(found.get(label) for label in labels): value for found, value in prometheus.query(expression)}


def _differences(what, ours, theirs, tolerance=0.0):
    for key in sorted(set(ours) | set(theirs), key=str):
        expected, found = theirs.get(key, 0), ours.get(key, 0)
        if abs(found - expected) > tolerance * abs(expected):
            yield f"{what} of {' '.join(map(str, key)) or 'all'}: Prometheus has {found}, the daemon {expected}"


def _counters(prometheus, namespace, rows):
    for metric, field in (("launches", "launch_count"), ("errors", "error_count"), ("bytes", "size_bytes")):
        theirs = {(row["op"], device["device"]): device[field] for row in rows for device in row["devices"]}
        ours = _by(prometheus, f'tensord_op_{metric}_total{{namespace="{namespace}"}}', "op", "device")
        yield from _differences(f"tensord_op_{metric}_total", ours, theirs)


def _histograms(prometheus, namespace, rows, bounds):
    metric = "tensord_op_host_duration_seconds"
    timed = [row for row in rows if "host_time" in row]
    theirs = {(row["op"], row["backend"]): row["host_time"]["sample_count"] for row in timed}
    yield from _differences(f"{metric}_count", _by(prometheus, f'{metric}_count{{namespace="{namespace}"}}', "op", "backend"),
                            theirs)
    theirs = {(row["op"], row["backend"]): row["host_time"]["total_ns"] / 1e9 for row in timed}
    yield from _differences(f"{metric}_sum", _by(prometheus, f'{metric}_sum{{namespace="{namespace}"}}', "op", "backend"),
                            theirs, tolerance=1e-9)
    theirs = {}
    for row in timed:
        total = 0
        for bound, count in zip([*(bound / 1e9 for bound in bounds), float("inf")], row["host_time"]["bucket_counts"]):
            total += count
            theirs[row["op"], row["backend"], bound] = total
    ours = _by(prometheus, f'{metric}_bucket{{namespace="{namespace}"}}', "op", "backend", "le")
    yield from _differences(f"{metric}_bucket", {(op, backend, float(le)): value for (op, backend, le), value in ours.items()},
                            theirs)


def _kernels(prometheus, namespace, profile):
    # Not all kernels have a row of their own on every page: by op they add up to its launches.
    theirs = collections.Counter()
    for row in profile["rows"]:
        if row["op"] != "program_replay":
            theirs[row["op"], row["backend"]] += row["launch_count"]
    ours = _by(prometheus, f'sum by (op, backend) (tensord_kernel_launches_total{{namespace="{namespace}"}})', "op", "backend")
    yield from _differences("tensord_kernel_launches_total", ours, theirs)


def _calls(prometheus, namespace, unary, streamed):
    ours = _by(prometheus, f'tensord_requests_total{{namespace="{namespace}", method="Execute"}}', "code")
    yield from _differences("tensord_requests_total", ours, {("OK",): unary})
    ours = _by(prometheus, f'tensord_executions_total{{namespace="{namespace}"}}', "state")
    yield from _differences("tensord_executions_total", ours, {("succeeded",): unary + streamed})


def _shares(prometheus, namespace, rows):
    totals = collections.Counter()
    for row in rows:
        totals[row["backend"]] += row.get("host_time", {}).get("total_ns", 0)
    ours = _by(prometheus, f'namespace_op_backend:tensord_op_time:share_rate5m{{namespace="{namespace}"}}', "op", "backend")
    for row in rows:
        if totals[row["backend"]] < MIN_SHARED_NS or "host_time" not in row:
            continue
        expected = row["host_time"]["total_ns"] / totals[row["backend"]]
        found = ours.get((row["op"], row["backend"]), 0)
        if abs(found - expected) > SHARE_TOLERANCE:
            yield f"share of {row['op']} on {row['backend']}: the rule says {found:.3f}, the daemon's counters {expected:.3f}"


def _medians(prometheus, namespace, rows, bounds):
    """The rule's p50 must be in the bucket that has the daemon's median, or at most in the next one."""
    edges = [0, *(bound / 1e9 for bound in bounds)]
    ours = _by(prometheus, "namespace_op_backend:tensord_op_host_duration_seconds:p50_rate5m"
               f'{{namespace="{namespace}"}}', "op", "backend")
    for row in rows:
        counts = row.get("host_time", {}).get("bucket_counts", [])
        if sum(counts) < 100:
            continue
        seen, bucket = 0, 0
        while seen + counts[bucket] < sum(counts) / 2:
            seen += counts[bucket]
            bucket += 1
        low, high = edges[max(0, bucket - 1)], edges[min(bucket + 2, len(edges) - 1)]
        found = ours.get((row["op"], row["backend"]), float("nan"))
        if not low <= found <= high:
            yield (f"p50 of {row['op']} on {row['backend']}: the rule says {found:.3g} s, the daemon's buckets between {low:.3g} "
                   f"and {high:.3g} s")


def compare(prometheus, namespace, profile, unary, streamed):
    """What differs, as texts. `unary` and `streamed` are the runs that were made, all of them."""
    rows, bounds = profile["rows"], profile["bucket_bounds_ns"]
    if not rows:
        yield "the daemon has no profile"
    yield from _counters(prometheus, namespace, rows)
    yield from _histograms(prometheus, namespace, rows, bounds)
    yield from _kernels(prometheus, namespace, profile)
    yield from _calls(prometheus, namespace, unary, streamed)
    yield from _shares(prometheus, namespace, rows)
    yield from _medians(prometheus, namespace, rows, bounds)
