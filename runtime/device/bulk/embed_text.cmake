# Writes the text file INPUT as the C++ string mneme::device::bulk::<MODULE>Ptx into OUTPUT.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "namespace mneme::device::bulk {
extern const char ${MODULE}Ptx[];
extern const unsigned long ${MODULE}PtxBytes;
const char ${MODULE}Ptx[] = R\"PTX(")
file(APPEND "${OUTPUT}" "${text}")
file(APPEND "${OUTPUT}" ")PTX\";
const unsigned long ${MODULE}PtxBytes = sizeof(${MODULE}Ptx) - 1;
} // namespace mneme::device::bulk
")
