# Sourced by gpu_test.sh and gpu_bench.sh on the machine with the GPU, at the repository's root.
#
#   gpu_unpack     unpacks build/gpu-bundle; sets bin, logs and unpacked, and where libraries are found
#   gpu_describe   prints the card, the driver and the libraries' places

# The folders of CUDA's libraries: those of the Python that has PyTorch first, so that it and tensord use
# the same ones, then the system's. The programs find what they open at run time there.
gpu_library_folders() {
  python3 - 2>/dev/null <<'PY'
import glob
import os
import site
import sys

seen = []
for root in [*site.getsitepackages(), *sys.path]:
    for pattern in ("libcudnn.so.9", "libcublasLt.so.1?", "libnvrtc.so.1?"):
        for path in glob.glob(os.path.join(root, "nvidia", "**", "lib", pattern), recursive=True):
            if os.path.dirname(path) not in seen:
                seen.append(os.path.dirname(path))
print(":".join(seen))
PY
}

gpu_unpack() {
  local archive=build/gpu-bundle/bundle.tar.xz
  if [ ! -f "$archive" ]; then
    echo "no $archive: make it with scripts/gpu_test.sh --bundle on a machine that can build" >&2
    return 1
  fi
  logs=${OUT:-$PWD/build/gpu-logs}
  mkdir -p "$logs"
  unpacked=${TMPDIR:-/tmp}/tensord-gpu-bundle
  # A new archive replaces what an older one left.
  if ! cmp -s "$archive" "$unpacked/archive"; then
    rm -rf "$unpacked"
    mkdir -p "$unpacked"
    tar -C "$unpacked" -xJf "$archive" || return 1
    cp "$archive" "$unpacked/archive"
  fi
  bin=$unpacked/bin
  local cuda
  cuda=$(gpu_library_folders)
  export LD_LIBRARY_PATH=$unpacked/lib${cuda:+:$cuda}:/usr/local/cuda/lib64
  export PATH=$bin:$PATH
  export TENSORD_SOURCE_DIR=$PWD TENSORD_BIN_DIR=$bin
}

gpu_describe() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv || return 1
  echo "libraries: $LD_LIBRARY_PATH"
  local name
  for name in libcublasLt libcudnn libnvrtc; do
    echo "$LD_LIBRARY_PATH" | tr : '\n' | while read -r folder; do
      ls "$folder/$name".so.* 2>/dev/null
    done | head -1
  done
}
