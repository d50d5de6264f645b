#!/bin/bash
# Builds the container image for real and looks at it from outside: its files, its user, a model's answer, the metrics page, its end.
# Needs root, and neither a container engine nor a registry: debootstrap makes the Debian that the Dockerfile names, buildah builds,
# podman runs.
#
#   scripts/test_image.sh          the image around the programs in build/release/bin, or in TENSORD_BIN_DIR
#   scripts/test_image.sh --full   compiles them inside the image's build stage too, and builds the target "vulkan"
#
# The Debian base is kept in build/image/debian for the next time. TENSORD_CCACHE=FOLDER lends --full a compiler cache.
# Prints what it sees; the exit status is 0 only if all of it was right.
set -euo pipefail
cd "$(dirname "$0")/.."

full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
esac

scripts/setup.sh --image

work=build/image
bin=${TENSORD_BIN_DIR:-build/release/bin}
debian=$work/debian
store=$(mktemp -d /var/tmp/tensord-image.XXXXXX)
# Folders as storage, and chroot for isolation: what works inside other containers too.
storage=(--root "$store/root" --runroot "$store/run" --storage-driver vfs)
# Without systemd podman complains of health checks that it cannot schedule: this script runs them itself.
podman=(podman --log-level fatal "${storage[@]}" --runtime runc --cgroup-manager cgroupfs)
container=tensord-under-test
mkdir -p "$work"

cleanup() {
  "${podman[@]}" rm --force --time 0 $container >/dev/null 2>&1 || true
  buildah "${storage[@]}" umount --all >/dev/null 2>&1 || true
  rm -rf "$store"
}
trap cleanup EXIT

say() { printf '%s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# A Debian as debian:bookworm-slim is: no manual pages, no translations, of the documentation the licences alone.
make_debian() {
  local excludes=$debian/etc/dpkg/dpkg.cfg.d/docker
  say "making a Debian 12 with debootstrap"
  rm -rf "$debian"
  debootstrap --variant=minbase bookworm "$debian" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; return 1; }
  printf 'path-exclude %s\n' '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*' '/usr/share/info/*' >"$excludes"
  echo 'path-include /usr/share/doc/*/copyright' >>"$excludes"
  rm -rf "$debian"/usr/share/{man,locale,info}/* "$debian"/var/cache/apt/archives/*.deb "$debian"/var/lib/apt/lists/*
  find "$debian/usr/share/doc" -type f ! -name copyright -delete
  touch "$debian/complete"
}

import_debian() {
  [ -e "$debian/complete" ] || make_debian
  local base
  base=$(buildah "${storage[@]}" from --quiet scratch)
  cp -a "$debian/." "$(buildah "${storage[@]}" mount "$base")/"
  buildah "${storage[@]}" commit --quiet --rm "$base" docker.io/library/debian:bookworm-slim >/dev/null
}

# build TARGET [option...]
build() {
  local target=$1
  shift
  buildah "${storage[@]}" build --quiet --isolation chroot --layers=false --pull-never --format docker \
    --target "$target" --tag "tensord:$target" "$@" . >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log"; fail "target $target does not build"; }
}

size_of() {
  "${podman[@]}" image inspect --format '{{.Size}}' "$1" | awk '{printf "%.0f MB", $1 / 1e6}'
}

# start TARGET OPTION... -- the image as Kubernetes would run it. Its network is its own, and has no other machine in it.
start() {
  local target=$1
  shift
  "${podman[@]}" rm --force --time 0 $container >/dev/null 2>&1 || true
  "${podman[@]}" run --detach --name $container --network none --read-only --read-only-tmpfs=false --cap-drop all \
    --security-opt no-new-privileges --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@" "tensord:$target" >/dev/null
  pid=$("${podman[@]}" inspect --format '{{.State.Pid}}' $container)
  for _ in $(seq 100); do
    outside "$bin/tensordctl" health --timeout 1 >/dev/null 2>&1 && return
    sleep 0.1
  done
  "${podman[@]}" logs $container >&2
  fail "the daemon in the container does not come up"
}

# A command of this machine, in the container's network.
outside() { nsenter --target "$pid" --net -- "$@"; }

check_files() {
  local name root planted
  name=$(buildah "${storage[@]}" from --quiet --pull-never tensord:cpu)
  root=$(buildah "${storage[@]}" mount "$name")
  find "$root" -xdev -printf '%M %u %s /%P\n' | sort -k4 >"$work/files.txt"
  scripts/image_files.py "$root" >&2 || fail "these files must not be in the image"
  # Whether that looked at anything: a compiler and an open folder, planted into this copy.
  touch "$root/usr/bin/g++-12"
  chmod 777 "$root/srv"
  planted=$(scripts/image_files.py "$root" || true)
  [[ $planted == *"/usr/bin/g++-12: "* && $planted == *"/srv: "* ]] || fail "a planted fault was not seen: $planted"
  say "$(wc -l <"$work/files.txt") files, none that must not be there: see $work/files.txt"
  buildah "${storage[@]}" rm "$name" >/dev/null
}

check_confinement() {
  [ "$(stat -c %u "/proc/$pid")" = 10001 ] || fail "the daemon does not run as user 10001"
  grep -q '^CapEff:[[:space:]]*0*$' "/proc/$pid/status" || fail "the daemon has capabilities"
  grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$pid/status" || fail "the daemon may gain privileges"
  # Even root cannot, from inside.
  local answer
  answer=$(nsenter --target "$pid" --mount --root -- touch /usr/lib/tensord/x 2>&1 || true)
  [[ $answer == *"Read-only file system"* ]] || fail "the root file system can be written to: $answer"
  "${podman[@]}" healthcheck run $container || fail "the image's health check fails"
  say "user 10001, no capabilities, read-only root, healthy"
}

# What the container is allowed is what the daemon divides.
check_limits() {
  local log
  log=$("${podman[@]}" logs $container 2>&1)
  [[ $log == *'"event":"memory","limit":"512MiB"'* ]] || fail "the daemon does not see the container's memory limit"
  [[ $log == *', 1 thread"'* ]] || fail "the daemon does not see the container's CPU limit"
  say "limits: 512 MiB, 1 processor"
}

check_service() {
  local answer
  answer=$(outside "$bin/tensordctl" run models/digits/model.onnx --input image=models/digits/sample.npy --top 1 --json |
    /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["top"][0]["classes"][0]["class"])')
  [ "$answer" = "$(/usr/bin/python3 -c 'import json; print(json.load(open("models/digits/labels.json"))["sample.npy"][0])')" ] ||
    fail "the model's answer is $answer"
  outside curl -sS --max-time 10 http://127.0.0.1:8501/metrics >"$work/metrics.txt"
  grep -q '^tensord_op_launches_total{.*} [1-9]' "$work/metrics.txt" || fail "/metrics counts no launch"
  promtool check metrics <"$work/metrics.txt" || fail "promtool refuses /metrics"
  say "the model says $answer, /metrics has $(grep -vc '^#' "$work/metrics.txt") series"
}

check_end() {
  local status start=$SECONDS
  "${podman[@]}" stop --time 60 $container >/dev/null
  status=$("${podman[@]}" inspect --format '{{.State.ExitCode}}' $container)
  [ "$status" = 0 ] || fail "after SIGTERM the exit status is $status"
  "${podman[@]}" logs $container 2>&1 | grep -q '"cut_off":"nothing"' || fail "the daemon does not say that it drained"
  say "SIGTERM: exit status 0 after $((SECONDS - start)) s"
}

import_debian
if [ $full = yes ]; then
  build cpu ${TENSORD_CCACHE:+--volume "$TENSORD_CCACHE:/root/.cache/ccache"}
else
  scripts/image_programs.sh --from "$bin" "$work/given"
  build cpu --build-arg BINARIES=given
fi
say "image cpu: $(size_of tensord:cpu), of which Debian $(size_of docker.io/library/debian:bookworm-slim)"
check_files
start cpu --memory 512m --cpus 1
check_confinement
check_limits
check_service
check_end
if [ $full = yes ]; then
  scripts/image_programs.sh --from "$bin" "$work/given"
  build vulkan --build-arg BINARIES=given
  say "image vulkan: $(size_of tensord:vulkan)"
  if [ -e "$work/given/libtensord_vulkan.so" ]; then
    # Mesa's software driver is a Vulkan device on every machine.
    start vulkan --env TENSORD_DEVICES=vulkan
    check_service
    check_end
  fi
fi
say "the image is right"
