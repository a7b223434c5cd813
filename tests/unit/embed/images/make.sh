#!/bin/sh
# Makes the fat binaries here from kernels.cu, with CUDA 13.0: make.sh NVCC-OPTIONS
# The tests know what is in them; there is no need to make them again.
set -eu
cd "$(dirname "$0")"
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
compile() { nvcc -allow-unsupported-compiler "$@" kernels.cu; }
compile "$@" -cubin -arch=sm_75 -o "$made/75"
compile "$@" -cubin -arch=sm_90a -o "$made/90a"
compile "$@" -cubin -arch=sm_100f -o "$made/100f"
compile "$@" -ptx -arch=compute_75 -o "$made/ptx"
compile "$@" -fatbin -rdc=true -gencode arch=compute_90,code=lto_90 -compress-mode=size -o lto.fatbin
fatbinary --create=zstd.fatbin --compress-all --compress-mode=size \
  --image3=kind=elf,sm=75,file="$made/75" --image3=kind=elf,sm=90a,file="$made/90a" \
  --image3=kind=elf,sm=100f,file="$made/100f" --image3=kind=ptx,sm=75,file="$made/ptx"
fatbinary --create=lz4.fatbin --compress-all --compress-mode=speed \
  --image3=kind=elf,sm=75,file="$made/75" --image3=kind=ptx,sm=75,file="$made/ptx"
ptxas -arch=sm_80 uses.ptx -o uses.cubin # and uses_12.cubin with CUDA 12.6
