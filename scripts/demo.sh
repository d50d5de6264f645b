#!/bin/bash
# A first real run: sets up the machine, builds, starts the daemon on free ports of this machine,
# submits a trained model with a real input, and shows the answer, where the time went, and the
# metrics page. Then stops it.
#
#   scripts/demo.sh          everything, and the daemon is stopped at the end
#   scripts/demo.sh --keep   leaves the daemon running and says how to reach and how to stop it
set -euo pipefail
cd "$(dirname "$0")/.."

keep=no
case "${1:-}" in
  "") ;;
  --keep) keep=yes ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
esac

heading() { printf '\n== %s\n' "$*"; }

heading "Set up"
scripts/setup.sh

heading "Build"
mkdir -p build
if ! cmake --preset release >build/release-configure.log 2>&1; then
  cat build/release-configure.log
  exit 1
fi
cmake --build --preset release --target tensord tensordctl

bin=build/release/bin
model=models/digits/model.onnx
image=models/digits/sample.npy
state=$(mktemp -d)
daemon=

stop() {
  if [ -n "$daemon" ]; then
    kill -TERM "$daemon" 2>/dev/null || true
    wait "$daemon" || echo "the daemon ended with status $?" >&2
    daemon=
  fi
  rm -rf "$state"
}
trap stop EXIT

heading "Start the daemon"
"$bin/tensord" --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --op-profile full \
  --port-file "$state/ports.json" 2>"$state/log" &
daemon=$!
for _ in $(seq 100); do
  [ -s "$state/ports.json" ] && break
  if ! kill -0 "$daemon" 2>/dev/null; then
    cat "$state/log" >&2
    exit 1
  fi
  sleep 0.1
done
cat "$state/log"
port() { /usr/bin/python3 -c "import json,sys; v=json.load(open(sys.argv[1]))[sys.argv[2]]; print(v[0] if isinstance(v, list) else v)" "$state/ports.json" "$1"; }
TENSORD_ADDRESS=$(port grpc)
metrics=$(port metrics)
export TENSORD_ADDRESS
ctl="$bin/tensordctl"

heading "Submit $model"
"$ctl" submit "$model"

heading "What is in the picture?"
/usr/bin/python3 - "$image" <<'PY'
import sys
import numpy
for row in numpy.load(sys.argv[1])[0, 0]:
    print("    " + "".join(" .:-=+*#%@"[min(9, int(pixel * 10))] * 2 for pixel in row))
PY
"$ctl" run "$model" --input "image=$image" --top 3
answer=$("$ctl" run "$model" --input "image=$image" --top 1 --json |
  /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["top"][0]["classes"][0]["class"])')
echo "The picture shows a $answer."

heading "What each operator took (100 runs)"
"$ctl" run "$model" --input "image=$image" --repeat 100 >/dev/null
"$ctl" profile

heading "The same for Prometheus"
echo "http://$metrics/metrics, for example:"
curl -sS "http://$metrics/metrics" | grep -E '^tensord_op_(launches_total|host_duration_seconds_(sum|count))' | head -6

if [ $keep = yes ]; then
  trap - EXIT
  disown "$daemon"
  heading "Left running"
  echo "export TENSORD_ADDRESS=$TENSORD_ADDRESS   # for $ctl"
  echo "kill $daemon                               # to stop it; its log is $state/log"
else
  heading "Stop"
  stop
  trap - EXIT
  echo "stopped cleanly"
fi
