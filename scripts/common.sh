# What the scripts share: sourced by them, never run. Progress goes to stderr; stdout carries only what was asked for.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
toolchains=${TWILL_TOOLCHAINS:-$root/build/toolchains}
[[ $toolchains == /* ]] || toolchains=$PWD/$toolchains
export TWILL_TOOLCHAINS=$toolchains

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# A release of Debian or Ubuntu as "debian 12" or "ubuntu 24.04"; "unknown" elsewhere.
release() {
  [[ -r /etc/os-release ]] || { echo unknown; return; }
  (. /etc/os-release && echo "${ID:-unknown}${VERSION_ID:+ $VERSION_ID}")
}

# run_quietly LOG COMMAND...: shows the output only when the command fails.
run_quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  ((status == 0)) || { cat "$log" >&2; say "failed with status $status: $*"; }
  return "$status"
}

# as_root COMMAND...: runs it as root, or returns 77 where nobody may.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif have sudo && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 77
  fi
}

# install PACKAGE...: by apt as root or with passwordless sudo; otherwise prints the line to run and fails.
install() {
  have apt-get || die "missing: $*. This is no Debian or Ubuntu: install what these packages hold, then run it again."
  local log=$root/build/logs/apt.log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q)
  if ! as_root true; then
    say "packages are missing, and only root can install them. Run this line, then the same command again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $*" >&2
    exit 1
  fi
  say "installing $*"
  run_quietly "$log" as_root "${apt[@]}" update ||
    say "apt-get update failed; going on with the package lists there are"
  run_quietly "$log" as_root "${apt[@]}" install --no-install-recommends "$@" || die "apt-get could not install: $*"
}

# missing_packages PACKAGE...: those that dpkg does not have, one a line.
missing_packages() {
  local package
  for package; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || echo "$package"
  done
}

# Puts nvcc on PATH where CUDA is in its usual folder, or where scripts/toolchain-cuda-13 put it.
find_cuda() {
  local folder
  for folder in /usr/local/cuda/bin "$toolchains/cuda-13/bin"; do
    have nvcc || [[ ! -x $folder/nvcc ]] || PATH=$folder:$PATH
  done
}

# Puts hipcc on PATH where ROCm is in its usual folder.
find_rocm() {
  have hipcc || [[ ! -x /opt/rocm/bin/hipcc ]] || PATH=/opt/rocm/bin:$PATH
}

nvidia_gpu() { have nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }
amd_gpu() { [[ -e /dev/kfd ]] && grep -qsE '^simd_count [1-9]' /sys/class/kfd/kfd/topology/nodes/*/properties; }

# The preset for this machine: TWILL_PRESET, else the one of its GPU and toolkit, else host.
choose_preset() {
  if [[ -n ${TWILL_PRESET:-} ]]; then
    echo "$TWILL_PRESET"
  elif nvidia_gpu && have nvcc; then
    echo cuda
  elif amd_gpu && have hipcc; then
    echo hip
  else
    ! nvidia_gpu || say "no nvcc for this NVIDIA GPU: building for the CPU. Run scripts/toolchain-cuda-13 first."
    ! amd_gpu || say "no hipcc for this AMD GPU: building for the CPU. Install ROCm first."
    echo host
  fi
}

# build PRESET [CMAKE_BUILD_ARGUMENT...]: configures and builds into build/PRESET, on all cores unless
# CMAKE_BUILD_PARALLEL_LEVEL says fewer.
build() {
  local preset=$1
  shift
  cd "$root" || exit
  say "configuring preset $preset in build/$preset"
  run_quietly "$root/build/logs/configure-$preset.log" cmake --preset "$preset" || exit
  cmake --build --preset "$preset" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" "$@" >&2 </dev/null || die "the build of preset $preset failed"
}
