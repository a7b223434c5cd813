// Room abi: the function of libmneme_jit_mpi_<family>.so, which libmneme_jit opens in programs
// whose chain of caches names an MPI level. Families have ABIs of their own: "mpich" and "openmpi".
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_JIT_MPI_ABI 1u

typedef struct mneme_jit_mpi_options {
  uint32_t abi;
  uint32_t asksRank0;        ///< 0: the directory is all that ranks share; no messages
  uint32_t pollMilliseconds; ///< between looks of rank 0 at what others ask
  const char* directory;     ///< of the entries; empty: none can be used
} mneme_jit_mpi_options;

/// Any thread may call the functions, on any descriptor table; they throw nothing.
typedef struct mneme_jit_mpi {
  int32_t rank;
  int32_t size;
  /// Calls `take` with the content of an entry, if there is one: of this rank's directory, or with
  /// `asksRank0` of that of rank 0.
  void (*read)(const char* name, uint32_t asksRank0,
               void (*take)(void* user, const void* bytes, size_t count), void* user);
  /// Writes it, or with `asksRank0` of the options has rank 0 write it. Returns when it is there.
  void (*publish)(const char* name, const void* bytes, size_t count);
} mneme_jit_mpi;

#pragma GCC visibility push(default)

/// Starts at the first call, whose options hold. Null, and a sentence in `why`, where MPI is not
/// initialised as it has to be. Never throws.
const mneme_jit_mpi* mneme_jit_mpi_start(const mneme_jit_mpi_options* options, const char** why);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
