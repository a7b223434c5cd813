// Room nvcc: the host compiler that -ccbin names. clang compiles host code, whatever it is; where
// it is an MPI compiler, its directories and libraries are wanted.
#pragma once

#include <string>
#include <vector>

namespace mneme::nvcc {

/// The directories and libraries that an MPI compiler (mpicc, mpicxx, mpic++, ...) adds; none of
/// another compiler.
std::vector<std::string> mpiWords(const std::string& compiler);

} // namespace mneme::nvcc
