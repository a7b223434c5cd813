# Writes the PTX file INPUT as the C++ string mneme::device::bulk::<MODULE>Ptx into OUTPUT. Every
# kernel in BOUNDS (name=blocks) gets the bounds launch_plan.h relies on, for which plain C++ has no
# attribute: 256 threads, and registers for this many blocks at a time.
file(READ "${INPUT}" text)
foreach(bound IN LISTS BOUNDS)
  string(REPLACE "=" ";" bound "${bound}")
  list(GET bound 0 kernel)
  list(GET bound 1 blocks)
  string(REGEX REPLACE "(\\.visible \\.entry ${kernel}\\([^()]*\\))"
    "\\1\n.maxntid 256, 1, 1\n.minnctapersm ${blocks}" text "${text}")
endforeach()
file(WRITE "${OUTPUT}" "namespace mneme::device::bulk {
extern const char ${MODULE}Ptx[];
extern const unsigned long ${MODULE}PtxBytes;
const char ${MODULE}Ptx[] = R\"PTX(")
file(APPEND "${OUTPUT}" "${text}")
file(APPEND "${OUTPUT}" ")PTX\";
const unsigned long ${MODULE}PtxBytes = sizeof(${MODULE}Ptx) - 1;
} // namespace mneme::device::bulk
")
