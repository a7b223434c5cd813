// Room core/base: the only place that writes messages for users to stderr (or MNEME_LOG_DIR).
#pragma once

#include <string>

namespace mneme {

enum class LogLevel : int { Trace, Debug, Info, Warn, Error, Critical, Off };

/// Level from MNEME_LOG_LEVEL (trace|debug|info|warn|error|critical|off; default critical), read
/// once. With MNEME_LOG_DIR set, lines go to `mneme-<host>-<rank|pid>.log` there instead of stderr.
LogLevel logLevel() noexcept;

/// Writes "mneme: <message>\n" in one write(2) when `level` is enabled. Any thread, any time after
/// libc is up; never throws, never allocates a stream.
void log(LogLevel level, const std::string& message) noexcept;

/// Writes "mneme: <message>\n" to stderr, as standard_error.h finds it, at every level: for
/// summaries and one-time warnings that a user must see. Does nothing if stderr is not read. With
/// MNEME_LOG_DIR set, and a level other than off, also writes to the file there.
void notice(const std::string& message) noexcept;

/// Like notice(), but writes each distinct message once per process.
void noticeOnce(const std::string& message) noexcept;

/// Returns the MPI rank of this process, from the first variable that is set of FLUX_TASK_RANK,
/// OMPI_COMM_WORLD_RANK, PMI_RANK, MPI_RANK, SLURM_PROCID, JSM_NAMESPACE_RANK, PMIX_RANK,
/// PBS_TASKNUM; -1 if none.
int processRank() noexcept;

} // namespace mneme
