#!/bin/bash
# Sets up the machine, builds tensord and runs every test.
#
#   scripts/test.sh          what CI runs: all tests in the release build, the core under the address,
#                            undefined behaviour and thread sanitizers, a minute of fuzzing
#   scripts/test.sh --full   everything under the address sanitizer too, the thread sanitizer's tests
#                            ten times over, storms of 10,000 rounds instead of 500, ten minutes of
#                            fuzzing, whole nets compared with ONNX Runtime (from PyPI)
#
# TENSORD_JOBS sets the number of parallel jobs (default: one per core). If the folder ../shared
# is there (models and conformance data), its tests run as well: TENSORD_SHARED_DIR names it.
# The exit status is 0 only if every step and every test passed.
set -uo pipefail
cd "$(dirname "$0")/.."

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

jobs=${TENSORD_JOBS:-$(nproc)}
if [ -z "${TENSORD_SHARED_DIR:-}" ] && [ -d ../shared ]; then
  TENSORD_SHARED_DIR=$(cd ../shared && pwd)
fi
if [ -n "${TENSORD_SHARED_DIR:-}" ]; then
  export TENSORD_SHARED_DIR
fi

passed=0
failed=0
skipped=0
failures=()

# step TITLE COMMAND...: a heading, the command, and how long it took.
step() {
  local title=$1 start=$SECONDS status=0
  shift
  printf '\n== %s\n' "$title"
  "$@" || status=$?
  if [ $status -eq 0 ]; then
    printf -- '-- %s: ok, %d s\n' "$title" $((SECONDS - start))
  else
    printf -- '-- %s: FAILED (status %d), %d s\n' "$title" $status $((SECONDS - start))
    failures+=("$title")
  fi
  return $status
}

# Options of the next build's configuration.
configure=()

# build PRESET [TARGET...]
build() {
  local preset=$1 log
  shift
  log=build/$preset-configure.log
  mkdir -p build
  if ! cmake --preset "$preset" "${configure[@]}" >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
  grep -E '^-- (CUDA|VULKAN):' "$log"
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

# GoogleTest reports in a file for each program, other tests count as one each.
#
# run_tests PRESET [ctest argument...]
run_tests() {
  local preset=$1 results=build/$1/test-results status=0 counts
  shift
  rm -rf "$results"
  mkdir -p "$results"
  GTEST_OUTPUT="xml:$PWD/$results/" ctest --preset "$preset" -j "$jobs" --no-tests=error \
    --output-junit "$PWD/$results/ctest.junit" "$@" || status=$?
  if ! counts=$(/usr/bin/python3 scripts/count_tests.py "$results"); then
    echo "the results of $preset cannot be counted" >&2
    return 1
  fi
  read -r -a counts <<<"$counts"
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  return $status
}

# A script that tells by its status whether all is well; counts as one test.
#
# one_test COMMAND...
one_test() {
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    return 1
  fi
}

# Unpacking a Debian with its owners takes root.
#
# image [--full]
image() {
  if [ "$(id -u)" -ne 0 ]; then
    echo "skipped: an image is made and run as root"
    skipped=$((skipped + 1))
  else
    one_test scripts/test_image.sh "$@"
  fi
}

finish() {
  printf '\n'
  if [ ${#failures[@]} -ne 0 ]; then
    printf 'failed step: %s\n' "${failures[@]}"
  fi
  if [ $skipped -ne 0 ]; then
    echo "$skipped tests were skipped, each with its reason in the output of its program"
  fi
  printf 'in %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
  echo "$passed tests passed, $failed failed"
  [ ${#failures[@]} -eq 0 ] && [ "$failed" -eq 0 ]
  exit
}

step "Set up" scripts/setup.sh || finish

[ $full = yes ] && export TENSORD_ALL_NODES=1
step "Build (release)" build release || finish
# Models of 0.6 and 2.5 GB instead of small ones of the same nodes; under a sanitizer they would take an hour.
whole_nets=
[ $full = yes ] && whole_nets=1
TENSORD_WHOLE_NETS=$whole_nets step "Test (release)" run_tests release
image_options=()
[ $full = yes ] && image_options=(--full)
step "Container image" image "${image_options[@]}"
step "Deployment files" one_test scripts/test_deployment.sh
step "Observability" one_test scripts/test_observability.sh
if [ $full = yes ] && [ -n "${TENSORD_SHARED_DIR:-}" ]; then
  step "Compare nets with ONNX Runtime" one_test scripts/compare_nets.py
fi

# Under the sanitizers only what needs no gRPC is built, since the rest takes minutes and Debian's
# gRPC is not instrumented; "onnx" reads files that strangers send, so it goes along. The fuzzers are
# of the same build.
fuzz_seconds=60
if [ $full = yes ]; then
  fuzz_seconds=600
  # With the emulated GPU, whose kernels take minutes to compile and to run there.
  configure=(-DTENSORD_CUDA=AUTO)
  export TENSORD_STORM=10000
  step "Build (asan)" build asan && step "Test (asan)" run_tests asan -LE scripts
else
  step "Build (asan, core)" build asan tests_core tests_onnx fuzzers &&
    step "Test (asan, core)" run_tests asan -L '^(core|onnx)$'
fi
configure=()
if [ -x build/asan/bin/fuzz_seeds ]; then
  step "Fuzz" one_test scripts/fuzz.sh $fuzz_seconds
fi
# The thread sanitizer has something to look at where threads meet; the rest is one thread's.
label=threaded
repeat=()
[ $full = yes ] && label=core repeat=(--repeat until-fail:10)
step "Build (tsan, $label)" build tsan tests_$label &&
  step "Test (tsan, $label)" run_tests tsan -L "^$label\$" "${repeat[@]}"

finish
