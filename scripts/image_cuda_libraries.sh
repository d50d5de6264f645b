#!/bin/sh
# Collects, in an image with CUDA, the libraries of NVIDIA's that the CUDA backend opens, and nothing else of the three gigabytes
# that such an image has: cuBLASLt, cuDNN 9 and NVRTC. The CUDA runtime is linked into the backend; the driver comes from the host.
#
#   image_cuda_libraries.sh FOLDER
set -eu
folder=$1
mkdir -p "$folder"
for name in libcublasLt.so. libnvrtc.so. libnvrtc-builtins.so. \
    libcudnn.so. libcudnn_graph.so. libcudnn_ops.so. libcudnn_cnn.so. libcudnn_adv.so. libcudnn_heuristic.so. \
    libcudnn_engines_precompiled.so. libcudnn_engines_runtime_compiled.so.; do
  found=no
  for directory in /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu; do
    for library in "$directory/$name"*; do
      # The names of links are what is opened, so they go along.
      [ -e "$library" ] && cp -a "$library" "$folder/" && found=yes
    done
  done
  [ $found = yes ] || { echo "image_cuda_libraries: there is no ${name}* in this image" >&2; exit 1; }
done
for licence in /usr/local/cuda/EULA.txt /usr/share/doc/libcudnn9*/copyright /NGC-DL-CONTAINER-LICENSE; do
  if [ -e "$licence" ]; then
    cp "$licence" "$folder/LICENSE.$(echo "${licence#/}" | tr / _)"
  fi
done
