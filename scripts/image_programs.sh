#!/bin/bash
# Puts what the container image runs into a folder: the daemon, the command line tool and the backends' libraries, without
# debugging symbols.
#
#   scripts/image_programs.sh [--build] [--cuda ARCHITECTURES] [--jobs N] [--from BIN] FOLDER
#
# From build/release/bin (or BIN) as it is; --build builds it first. --cuda takes a list such as "80;90" and requires nvcc; without it an
# image has no CUDA backend.
set -euo pipefail
cd "$(dirname "$0")/.."

build=no cuda= jobs= folder= bin=build/release/bin
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=yes ;;
    --cuda) cuda=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --from) bin=$2; shift ;;
    -*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
[ -n "$folder" ] || { echo "image_programs: no folder is named" >&2; exit 2; }

if [ $build = yes ]; then
  options=(-DTENSORD_CUDA=OFF)
  [ -z "$cuda" ] || options=(-DTENSORD_CUDA=ON "-DTENSORD_CUDA_ARCHITECTURES=$cuda")
  cmake --preset release "${options[@]}" >/dev/null
  # Every backend whose tools are there; "help" lists a target only where it exists.
  targets=(tensord tensordctl)
  for backend in cuda vulkan; do
    if cmake --build --preset release --target help | grep -q "^tensord_$backend: "; then
      targets+=("tensord_$backend")
    fi
  done
  cmake --build --preset release -j "${jobs:-$(nproc)}" --target "${targets[@]}"
fi

rm -rf "$folder"
mkdir -p "$folder"
shopt -s nullglob
for program in "$bin/tensord" "$bin/tensordctl" "$bin"/libtensord_*.so; do
  if [ -z "$cuda" ] && [ "${program##*/}" = libtensord_cuda.so ]; then
    continue
  fi
  strip -o "$folder/${program##*/}" "$program"
  chmod 755 "$folder/${program##*/}"
done
