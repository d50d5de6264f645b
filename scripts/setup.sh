#!/bin/bash
# Installs what tensord needs to be built and tested on Debian 12. Run it as often as you like: what
# is there is left alone, and when nothing is missing it returns at once.
#
#   scripts/setup.sh           install what is missing
#   scripts/setup.sh --check   only say what is missing; exit status 1 if anything is
#   scripts/setup.sh --venv    also the Python packages of scripts/requirements.txt, from PyPI into build/venv
#   scripts/setup.sh --image   also what scripts/test_image.sh makes and runs a container image with
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  # Compilers and build tools
  g++ cmake ninja-build ccache mold pkg-config
  # RPC. libgrpc++-dev does not bring the protobuf headers by itself.
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libprotoc-dev
  # Libraries of the daemon and of the command line tool
  libabsl-dev prometheus-cpp-dev libcli11-dev libspdlog-dev libyaml-cpp-dev nlohmann-json3-dev
  libsmartcols-dev zlib1g-dev libssl-dev
  # Kernels of the CPU. oneDNN's CMake files look for OpenCL, which its package does not bring.
  libdnnl-dev ocl-icd-opencl-dev
  # Vulkan: headers, the loader and a shader compiler; for tests a software driver and validation
  libvulkan-dev glslc mesa-vulkan-drivers vulkan-validationlayers
  # Tests: GoogleTest, Clang for fuzzing, thread-safety analysis and formatting, callgrind, Prometheus
  libgtest-dev libgmock-dev clang-14 clang-format-14 libclang-rt-14-dev lld valgrind prometheus curl zstd
  # Tests and scripts in Python (Debian's own /usr/bin/python3)
  python3 python3-numpy python3-onnx python3-grpcio python3-protobuf python3-venv python3-yaml
  # ONNX's node models with their expected outputs
  libonnx-testdata
)

# A Debian to start from, an image's build, and its run; runc, since crun wants more of the kernel than a container may have.
if [ "${1:-}" = --image ]; then
  packages+=(debootstrap buildah podman runc)
fi

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done

# The venv is made anew when the list has changed. A stamp says what is in it: pip takes a second to
# find out that nothing is to be done.
install_venv() {
  local venv=build/venv list=scripts/requirements.txt
  cmp -s "$list" "$venv/installed.txt" && return
  echo "setup: installing the packages of $list into $venv"
  /usr/bin/python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$list"
  "$venv/bin/pip" check --disable-pip-version-check >/dev/null
  cp "$list" "$venv/installed.txt"
}

install_packages() {
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: installing needs root or sudo" >&2; exit 1; }
    sudo=(sudo)
  fi
  echo "setup: installing ${#missing[@]} packages with apt-get"
  "${sudo[@]}" apt-get update -qq
  # Debian starts the services that it installs, now and at each boot; tests start a Prometheus of their own. What the
  # machine itself says of services (policy-rc.d) stays.
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap "${sudo[*]} rm -f $policy" EXIT
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
    "${sudo[@]}" chmod 755 $policy
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  if [[ " ${missing[*]} " == *" prometheus "* ]] && is_installed prometheus; then
    "${sudo[@]}" update-rc.d prometheus disable
  fi
  for package in "${missing[@]}"; do
    is_installed "$package" || { echo "setup: $package is still missing" >&2; exit 1; }
  done
}

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
else
  echo "setup: missing: ${missing[*]}"
  if [ "${1:-}" = --check ]; then
    exit 1
  fi
  install_packages
  echo "setup: done"
fi
if [ "${1:-}" = --venv ]; then
  install_venv
fi
