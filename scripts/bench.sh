#!/bin/bash
# Benchmarks, each in one run against its own peer. Lines of JSON on stdout.
#
#   scripts/bench.sh overhead [--rounds N] [--round-ms N]
#       what tensord adds to a call, and what op_profile adds to a launch (bench/README.md)
#   scripts/bench.sh models [--models M,...] [--threads N,...] [--quick] ...
#       whole models beside ONNX Runtime (docs/performance.md; --help lists the rest)
#   scripts/bench.sh observability [--quick] ...
#       what op_profile and scrapes cost (bench/README.md)
#   scripts/bench.sh serving [MARK ...] [--full]
#       streams, payloads, batching, fairness, overload, draining, a soak (bench/README.md)
set -euo pipefail
cd "$(dirname "$0")/.."

# build TARGET...
build() {
  scripts/setup.sh >&2
  cmake --preset release >/dev/null
  cmake --build --preset release --target "$@" >&2
}

case "${1:-}" in
  overhead)
    shift
    ;;
  models)
    shift
    # What is wrong with the arguments is said before anything is built.
    case " $* " in
      *" --help "* | *" -h "* | *" --check "*) exec /usr/bin/python3 scripts/bench_models.py "$@" ;;
    esac
    /usr/bin/python3 scripts/bench_models.py --check "$@"
    build tensord engine_bench client_bench
    exec /usr/bin/python3 scripts/bench_models.py "$@"
    ;;
  observability)
    shift
    case " $* " in
      *" --help "* | *" -h "*) exec /usr/bin/python3 scripts/bench_observability.py "$@" ;;
    esac
    build tensord tensordctl profile_bench
    exec /usr/bin/python3 scripts/bench_observability.py "$@"
    ;;
  serving)
    shift
    case " $* " in
      *" --help "* | *" -h "*) exec /usr/bin/python3 scripts/bench_serving.py "$@" ;;
    esac
    /usr/bin/python3 scripts/bench_serving.py --check "$@"
    build tensord tensordctl rpc_bench stream_bench payload_bench
    exec /usr/bin/python3 scripts/bench_serving.py "$@"
    ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1
    exit 2
    ;;
esac

build tensord launch_bench rpc_bench
bin=build/release/bin

state=$(mktemp -d)
"$bin/tensord" --devices null:0 --enable-echo-for-benchmarks --listen "127.0.0.1:0,unix:$state/socket" \
  --metrics-listen 127.0.0.1:0 --port-file "$state/ports.json" 2>"$state/log" &
daemon=$!
trap 'kill "$daemon" 2>/dev/null; wait "$daemon"; rm -rf "$state"' EXIT
for _ in $(seq 100); do
  [ -s "$state/ports.json" ] && break
  kill -0 "$daemon" 2>/dev/null || { cat "$state/log" >&2; exit 1; }
  sleep 0.1
done

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
printf '{"bench": "machine", "cpu": "%s", "cores": %d, "load": %s}\n' \
  "$machine" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"

mapfile -t addresses < <(/usr/bin/python3 -c \
  'import json, sys; print("\n".join(json.load(open(sys.argv[1]))["grpc"]))' "$state/ports.json")
"$bin/rpc_bench" "${addresses[@]}" "$@" | tee "$state/rpc"

"$bin/launch_bench" | tee "$state/launch"

# Instructions of one launch: the difference of two run lengths, so that start-up cancels out but for some 200,000
# instructions that follow the clock (a fifth of one a launch).
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    "$bin/launch_bench" --mode "$1" --launches "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
for mode in absent off sampled full; do
  printf '{"bench": "instructions", "mode": "%s", "short": %d, "long": %d}\n' \
    "$mode" "$(instructions $mode 1000000)" "$(instructions $mode 2000000)"
done | tee "$state/instructions"

/usr/bin/python3 - "$state" <<'PY'
import json
import sys

def lines(name):
    return [json.loads(line) for line in open(f"{sys.argv[1]}/{name}")]

rpc = lines("rpc")[-1]
launch = lines("launch")[-1]
count = {row["mode"]: (row["long"] - row["short"]) / 1000000 for row in lines("instructions")}
print(json.dumps({
    "bench": "overhead",
    **{key: rpc[key] for key in ("p50_ratio_c1", "rate_ratio_c64")},
    **{key: round(value, 2) for key, value in launch.items()},
    "launch_instructions_absent": round(count["absent"], 2),
    "launch_instructions_off": round(count["off"], 2),
    "launch_instructions_off_more": round(count["off"] - count["absent"], 2),
    "launch_instructions_full": round(count["full"], 2),
}))
PY
