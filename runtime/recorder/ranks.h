// Room recorder: selects the processes of a parallel program to record.
#pragma once

#include <string>

namespace mneme::record {

/// Whether `rank` (-1: none) is in a list such as "0,2-3" or "all". Without a rank the result is
/// true.
/// \throws Error{InvalidArgument} for a malformed list.
bool isRankListed(const std::string& list, int rank);

/// Returns the message of a process that is not recorded because its rank is not listed. One such
/// process reports for all; for the others it is empty. `count`: the number of ranks; 0: unknown.
std::string remarkOnRank(const std::string& list, int rank, int count);

/// Returns MNEME_RECORD_RANKS, or "0" if it is not set.
std::string recordedRanks();

/// Returns the number of ranks that the launcher has started, from the first variable that is set
/// of FLUX_JOB_SIZE, OMPI_COMM_WORLD_SIZE, PMI_SIZE, MPI_SIZE, SLURM_STEP_NUM_TASKS,
/// JSM_NAMESPACE_SIZE; 0 if none.
int rankCount() noexcept;

} // namespace mneme::record
