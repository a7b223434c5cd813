# Writes the file INPUT as the array mneme::device::bulk::<NAME> with its size into OUTPUT.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}" "namespace mneme::device::bulk {
extern const unsigned char ${NAME}[];
extern const unsigned long ${NAME}Bytes;
const unsigned char ${NAME}[] = {${bytes}};
const unsigned long ${NAME}Bytes = ${size};
} // namespace mneme::device::bulk
")
