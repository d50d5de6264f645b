#!/bin/bash
# Makes what scripts/gpu_test.sh and scripts/gpu_bench.sh run on another machine.
#
#   scripts/gpu_bundle.sh programs   build/gpu-bundle: programs, stripped, and the shared libraries of this
#                                    system that such a machine lacks; beside them the shared folder's
#                                    conformance cases, make_nets.py and peer_torch.py
#   scripts/gpu_bundle.sh models [NAME...]
#                                    build/gpu-models: the real models with their data, or those named
#
# Built for the CUDA architectures of the release preset. The other machine needs glibc 2.36 and libstdc++ 12
# or later (Debian 12, Ubuntu 24.04), a driver, and CUDA's libraries; not this repository's build tools.
set -euo pipefail
cd "$(dirname "$0")/.."

shared=${TENSORD_SHARED_DIR:-../shared}

# Programs that must be there, and those that come along when they are defined.
required=(tensord tensordctl tensord_conformance tensord_cuda gpu_tests)
optional=(device_bench client_bench rpc_bench tensord_vulkan backends_contract_test backends_vulkan_kernels_test)

# What every such machine has; a second copy of it would not fit the loader.
is_of_the_system() {
  case "$1" in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux* | libgcc_s.so.* | libstdc++.so.*) return 0 ;;
    *) return 1 ;;
  esac
}

bundle_programs() {
  local out=build/gpu-bundle stage
  mkdir -p build
  cmake --preset release >build/release-configure.log 2>&1 || { cat build/release-configure.log >&2; exit 1; }
  local targets=("${required[@]}") target
  for target in "${optional[@]}"; do
    if ninja -C build/release -t query "$target" >/dev/null 2>&1; then targets+=("$target"); fi
  done
  cmake --build --preset release ${TENSORD_JOBS:+-j"$TENSORD_JOBS"} --target "${targets[@]}"

  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  mkdir -p "$stage/bin" "$stage/lib"
  local programs=(tensord tensordctl tensord_conformance libtensord_cuda.so libtensord_vulkan.so "${optional[@]}")
  local path name
  for path in build/release/bin/*_gpu_test; do programs+=("$(basename "$path")"); done
  for name in "${programs[@]}"; do
    path=build/release/bin/$name
    [ -e "$path" ] || path=build/release/lib/$name
    [ -e "$path" ] && strip -o "$stage/bin/$name" "$path"
  done
  # Unpacks the cases.
  cp "$(command -v zstd)" "$stage/bin/"
  ldd "$stage"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r path; do
    name=$(basename "$path")
    is_of_the_system "$name" || { cp -L "$path" "$stage/lib/$name" && strip "$stage/lib/$name" 2>/dev/null || true; }
  done

  # Opened at run time, so that no program names it.
  path=$(ldconfig -p | awk '$1 == "libvulkan.so.1" {print $NF; exit}')
  [ -n "$path" ] && cp -L "$path" "$stage/lib/"

  rm -rf "$out"
  mkdir -p "$out"
  tar -C "$stage" -cf - bin lib | xz -6 -T0 >"$out/bundle.tar.xz"
  if [ -d "$shared/conformance/onnx" ]; then
    cp -r "$shared/conformance/onnx" "$out/cases"
    chmod -R u+w "$out/cases"
  fi
  for path in "$shared/models/make_nets.py" "$shared/gpu/peer_torch.py"; do
    [ -f "$path" ] && cp "$path" "$out/"
  done
  local bytes
  bytes=$(stat -c %s "$out/bundle.tar.xz")
  du -sh "$out" "$out/bundle.tar.xz"
  if [ "$bytes" -gt $((25 * 1000 * 1000)) ]; then
    echo "the bundle has $bytes bytes, above 25,000,000" >&2
    exit 1
  fi
}

bundle_models() {
  [ -d "$shared/models/real" ] || { echo "no $shared/models/real" >&2; exit 1; }
  mkdir -p build/gpu-models
  if [ $# -eq 0 ]; then
    for folder in "$shared"/models/real/*/model.onnx; do set -- "$@" "$(basename "$(dirname "$folder")")"; done
  fi
  # Weights hardly shrink, so the quickest level will do.
  tar -C "$shared/models/real" -cf - README.md "$@" | xz -1 -T0 >build/gpu-models/models.tar.xz
  du -sh build/gpu-models
}

case "${1:-}" in
  programs) bundle_programs ;;
  models) shift; bundle_models "$@" ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
esac
