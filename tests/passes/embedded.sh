#!/bin/sh
# usage: embedded.sh OPT MODULE [KERNEL]: embeds a device module's kernels, generates PTX from it, and
# prints the blobs' metadata, or the IR of one kernel's blob ("" for shared code).
set -e
ptx=$(mktemp)
trap 'rm -f "$ptx"' EXIT
$1 -passes=mneme-embed "$2" -o - | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90 -o "$ptx"
if [ $# -eq 2 ]; then
  mneme_blob_dump "$ptx"
else
  mneme_blob_dump "$ptx" "$3" | llvm-dis -o -
fi
