#!/bin/sh
# usage: embedded.sh OPT MODULE [KERNEL]: embeds a device module's kernels, generates PTX or a code
# object from it, and prints the blobs' metadata, or the IR of one kernel's blob ("" for shared code).
set -e
image=$(mktemp)
trap 'rm -f "$image"' EXIT
if grep -q '^target triple = "amdgcn' "$2"; then
  target="-mtriple=amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj"
else
  target="-mtriple=nvptx64-nvidia-cuda -mcpu=sm_90"
fi
$1 -passes=mneme-embed "$2" -o - | llc $target -o "$image"
if [ $# -eq 2 ]; then
  mneme_blob_dump "$image"
else
  mneme_blob_dump "$image" "$3" | llvm-dis -o -
fi
