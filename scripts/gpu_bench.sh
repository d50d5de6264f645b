#!/bin/bash
# Times whole nets on a GPU beside PyTorch, on a machine that reaches no registry.
#
#   scripts/gpu_bench.sh --bundle      here: as scripts/gpu_test.sh --bundle, which also takes the shared folder's
#                                      make_nets.py and peer_torch.py along
#   scripts/gpu_bench.sh [ARGUMENT...] there: nets are made, timed, and timed in PyTorch; a table of ratios, and rows as
#                                      JSON in $OUT if it is set, else in build/gpu-logs. Arguments are those of
#                                      scripts/gpu_bench.py: --cases, --no-peer
#
# All eleven cases take about five minutes, half of it PyTorch's. The exit status is 0 only if every case ran.
set -uo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  --bundle) exec scripts/gpu_bundle.sh programs ;;
  --help | -h) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
esac

. scripts/gpu_machine.sh
gpu_unpack || exit 2
gpu_describe || exit 2
python3 scripts/gpu_bench.py --bin "$bin" --shared build/gpu-bundle --out "$logs/gpu_bench.json" "$@"
