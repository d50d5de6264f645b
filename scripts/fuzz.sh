#!/bin/bash
# Fuzzes the decoders.
#
#   scripts/fuzz.sh SECONDS      every fuzzer of build/asan/bin in turn, sharing the time
#
# Builds them first if they are not there. Starts from seeds that build/asan/bin/fuzz_seeds makes
# and, where TENSORD_SHARED_DIR names the shared files, from the small models of ONNX's conformance
# cases; what is found grows build/fuzz/corpus. An input that fails is left in build/fuzz/<fuzzer>-crash-*
# and its report in build/fuzz/<fuzzer>.log; the exit status is then 1.
set -uo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-}
case "$seconds" in
  '' | *[!0-9]*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
jobs=${TENSORD_JOBS:-$(nproc)}

mkdir -p build/fuzz
if ! ls build/asan/bin/*_fuzzer >/dev/null 2>&1; then
  cmake --preset asan >build/asan-configure.log 2>&1 || { cat build/asan-configure.log; exit 1; }
  cmake --build --preset asan --target fuzzers -j"$jobs" >build/asan-build.log 2>&1 ||
    { tail -40 build/asan-build.log; exit 1; }
fi
models=(models/*/model.onnx)
cases=${TENSORD_SHARED_DIR:-}/conformance/onnx
if [ -d "$cases" ]; then
  if [ ! -d build/fuzz/cases ]; then
    mkdir -p build/fuzz/cases.new
    for tar in "$cases"/*.tar.zst; do
      tar --zstd --wildcards -C build/fuzz/cases.new -xf "$tar" '*/model.onnx' || exit 1
    done
    mv build/fuzz/cases.new build/fuzz/cases
  fi
  mapfile -t -O "${#models[@]}" models < <(find build/fuzz/cases -name model.onnx -size -16k | sort)
fi
build/asan/bin/fuzz_seeds build/fuzz/seeds "${models[@]}" || exit 1

fuzzers=(build/asan/bin/*_fuzzer)
each=$((seconds / ${#fuzzers[@]}))
status=0
for fuzzer in "${fuzzers[@]}"; do
  name=$(basename "$fuzzer")
  log=build/fuzz/$name.log
  mkdir -p "build/fuzz/corpus/$name" "build/fuzz/seeds/$name"
  if "$fuzzer" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 \
      -max_len=262144 -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" \
      "build/fuzz/corpus/$name" "build/fuzz/seeds/$name" >"$log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $each s"
  else
    tail -40 "$log"
    status=1
  fi
done
exit $status
