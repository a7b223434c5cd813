// Room core/abi: the function of libmneme_jit_mpi_<family>.so, which libmneme_jit opens in programs
// whose chain of caches names an MPI level. Each family has its own ABI: "mpich" and "openmpi".
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_JIT_MPI_ABI 1u

typedef struct mneme_jit_mpi_options {
  uint32_t abi;
  uint32_t asksRank0;        ///< 0: ranks share the directory only; no messages
  uint32_t pollMilliseconds; ///< interval at which rank 0 checks for requests
  const char* directory;     ///< of the entries; empty: there is none
} mneme_jit_mpi_options;

/// Any thread, with any descriptor table, may call the functions. They throw nothing.
typedef struct mneme_jit_mpi {
  int32_t rank;
  int32_t size;
  /// Calls `take` with the content of an entry, if it exists, from this rank's directory or, with
  /// `asksRank0`, from that of rank 0.
  void (*read)(const char* name, uint32_t asksRank0,
               void (*take)(void* user, const void* bytes, size_t count), void* user);
  /// Writes an entry or, with `asksRank0` in the options, has rank 0 write it. Returns when it is
  /// written.
  void (*publish)(const char* name, const void* bytes, size_t count);
} mneme_jit_mpi;

#pragma GCC visibility push(default)

/// Starts at the first call, with its options. Returns null, with the reason in `why`, if MPI is
/// not initialised as required. Never throws.
const mneme_jit_mpi* mneme_jit_mpi_start(const mneme_jit_mpi_options* options, const char** why);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
