#!/bin/bash
# Tests the CUDA backend, or with --backend vulkan Vulkan's, on a machine with a GPU that cannot build tensord and
# reaches no registry.
#
#   scripts/gpu_test.sh --bundle          here: builds, and puts programs and the libraries that they
#                                         need into build/gpu-bundle (25 MB at most), with the conformance
#                                         cases of TENSORD_SHARED_DIR or ../shared if they are there
#   scripts/gpu_test.sh --bundle-models [NAME...]
#                                         here: the real models of the shared folder, or those named, into
#                                         build/gpu-models (60 MB in all)
#   scripts/gpu_test.sh [--backend vulkan] [STEP...]
#                                         there: runs the bundle; all steps that it has the files for, or these:
#
#     machine     the card, the driver, the libraries
#     contract    the contract of backends/api on every GPU
#     kernels     every kernel against the CPU's
#     conformance ONNX's cases of tier 1 on the first GPU
#     models      the real models' own data on the first GPU (build/gpu-models)
#     metrics     records the metrics page under load, for the dashboards' pictures (docs/grafana.md)
#     sanitizer   compute-sanitizer over the kernels' test, where the machine allows it
#     fault       a kernel that traps, in a process of its own; always last
#
# Copy the repository with build/gpu-bundle (and build/gpu-models) to the other machine. Logs go to $OUT if it
# is set, else to build/gpu-logs. The exit status is 0 only if every step passed.
set -uo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; }

backend=cuda
if [ "${1:-}" = --backend ]; then
  backend=${2:-}
  case "$backend" in cuda | vulkan) ;; *) usage; exit 2 ;; esac
  shift 2
fi
case "${1:-}" in
  --bundle) exec scripts/gpu_bundle.sh programs ;;
  --bundle-models) shift; exec scripts/gpu_bundle.sh models "$@" ;;
  -*) usage; exit 2 ;;
esac

. scripts/gpu_machine.sh
gpu_unpack || exit 2

steps=("$@")
if [ ${#steps[@]} -eq 0 ]; then
  steps=(machine contract kernels conformance models)
  [ $backend = cuda ] && steps+=(metrics sanitizer fault)
fi

passed=()
failed=()
skipped=()

# run NAME SECONDS COMMAND...: one step, its output in a log and its end on the terminal.
run() {
  local name=$1 limit=$2 start=$SECONDS status=0
  shift 2
  printf '\n== %s\n' "$name"
  timeout --kill-after=10 "$limit" "$@" >"$logs/$name.log" 2>&1 || status=$?
  tail -25 "$logs/$name.log"
  if [ $status -eq 0 ]; then
    printf -- '-- %s: ok, %d s\n' "$name" $((SECONDS - start))
    passed+=("$name")
  else
    printf -- '-- %s: FAILED (status %d), %d s\n' "$name" $status $((SECONDS - start))
    failed+=("$name")
  fi
}

skip() {
  printf '\n== %s\n-- skipped: %s\n' "$1" "$2"
  skipped+=("$1")
}

has() { [ -x "$bin/$1" ]; }

step_machine() { run machine 60 bash -c gpu_describe; }

step_contract() {
  if [ $backend = vulkan ]; then
    has backends_contract_test || { skip contract "the bundle has no such program"; return; }
    run contract 240 "$bin/backends_contract_test" --gtest_brief=1 --gtest_filter='*/vulkan_*'
    return
  fi
  has cuda_contract_gpu_test || { skip contract "the bundle has no such program"; return; }
  run contract 240 "$bin/cuda_contract_gpu_test" --gtest_brief=1
}

step_kernels() {
  if [ $backend = vulkan ]; then
    has backends_vulkan_kernels_test || { skip kernels "the bundle has no such program"; return; }
    TENSORD_ALL_NODES=1 run kernels 400 "$bin/backends_vulkan_kernels_test" --gtest_brief=1
    return
  fi
  has cuda_kernels_gpu_test || { skip kernels "the bundle has no such program"; return; }
  run kernels 400 "$bin/cuda_kernels_gpu_test" --gtest_brief=1
}

step_conformance() {
  local cases=build/gpu-bundle/cases
  [ -d "$cases" ] || { skip conformance "no $cases"; return; }
  # At least 1,820 of the 1,868 cases of tier 1. The daemon takes its devices from the environment.
  TENSORD_DEVICES=cpu:0,$backend:0 run conformance 540 "$bin/tensord_conformance" --daemon "$bin/tensord" \
    --cases "$cases" --tier 1 --device $backend:0 --report "$logs/conformance.jsonl" --at-least 1820 \
    --allow refused --allow wrong --allow error
}

# Every model's data sets through a daemon, each element within 1e-3 of the expected one, or within the
# absolute tolerance that the models' README has in its table.
run_models() {
  local address=unix:$unpacked/models.socket daemon status=0 model name atol
  "$bin/tensord" --listen "$address" --metrics-listen off --devices "$backend:0" &
  daemon=$!
  for _ in $(seq 100); do
    "$bin/tensordctl" health --address "$address" >/dev/null 2>&1 && break
    sleep 0.1
  done
  for model in "$1"/*/model.onnx; do
    name=$(basename "${model%/*}")
    atol=$(awk -F ' *[|] *' -v name="$name" '$2 == name {print $8}' "$1/README.md")
    "$bin/tensordctl" run "$model" --address "$address" --device "$backend:0" --atol "${atol:-1e-5}" \
      --expect "${model%/*}"/test_data_set_* ||
      { echo "FAILED: $model"; status=1; }
  done
  kill -TERM $daemon
  wait $daemon || status=1
  return $status
}

# As in the shared folder, where scripts/observability/load.py looks.
models=$unpacked/shared/models/real

unpack_models() {
  [ -d "$models" ] && return
  mkdir -p "$models"
  tar -C "$models" -xJf build/gpu-models/models.tar.xz
}

step_models() {
  [ -d build/gpu-models ] || { skip models "no build/gpu-models"; return; }
  unpack_models || { failed+=(models); return; }
  run models 540 bash -c 'run_models "$1"' _ "$models"
}

step_metrics() {
  if [ -d build/gpu-models ]; then
    unpack_models || { failed+=(metrics); return; }
  fi
  TENSORD_SHARED_DIR=$unpacked/shared run metrics 120 python3 scripts/observability/record_pages.py --bin "$bin" \
    --device cuda:0 --seconds 60 --out "$logs/metrics-pages.jsonl.gz"
}

step_sanitizer() {
  has cuda_kernels_gpu_test || { skip sanitizer "the bundle has no such program"; return; }
  local tool
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
    { skip sanitizer "no compute-sanitizer; the kernels' test poisons outputs and guards what is behind them"; return; }
  run sanitizer 500 "$tool" --tool memcheck --error-exitcode 9 "$bin/cuda_kernels_gpu_test" --gtest_brief=1
  if grep -q "Device not supported" "$logs/sanitizer.log"; then
    unset 'failed[-1]'
    skip sanitizer "compute-sanitizer refuses this machine's device; the kernels' test poisons and guards"
  fi
}

step_fault() {
  has cuda_fault_gpu_test || { skip fault "the bundle has no such program"; return; }
  run fault 120 "$bin/cuda_fault_gpu_test"
}

for name in "${steps[@]}"; do
  if ! declare -F "step_$name" >/dev/null; then
    echo "no step is called '$name'" >&2
    usage >&2
    exit 2
  fi
done
export -f gpu_describe run_models
export bin unpacked backend
for name in "${steps[@]}"; do "step_$name"; done

printf '\npassed: %s\nfailed: %s\nskipped: %s\n' "${passed[*]:-none}" "${failed[*]:-none}" "${skipped[*]:-none}"
[ ${#failed[@]} -eq 0 ]
