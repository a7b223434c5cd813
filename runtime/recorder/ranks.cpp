#include "runtime/recorder/ranks.h"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <tuple>
#include <utility>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace mneme::record {
namespace {

/// The first rank from 0 on that is listed, or is not; `count` if there is none below it.
int firstThat(const std::string& list, bool isListed, int count) {
  int rank = 0;
  while (rank < count && isRankListed(list, rank) != isListed)
    ++rank;
  return rank;
}

} // namespace

bool isRankListed(const std::string& list, int rank) {
  bool isListed = list == "all";
  std::istringstream parts(list == "all" ? "" : list);
  for (std::string part; std::getline(parts, part, ',');) {
    const char* end = part.data() + part.size();
    int low = 0;
    auto [stop, error] = std::from_chars(part.data(), end, low);
    int high = low;
    if (error == std::errc() && stop != end && *stop == '-')
      std::tie(stop, error) = [&] {
        const auto result = std::from_chars(stop + 1, end, high);
        return std::pair(result.ptr, result.ec);
      }();
    if (error != std::errc() || stop != end || low < 0 || high < low)
      throw Error(ErrorCode::InvalidArgument,
                  "MNEME_RECORD_RANKS='" + list + "' is neither 'all' nor a list like 0,2-3");
    isListed = isListed || (low <= rank && rank <= high);
  }
  return rank < 0 || isListed;
}

std::string remarkOnRank(const std::string& list, int rank, int count) {
  if (firstThat(list, false, rank) != rank)
    return "";
  const std::string given = "--record-ranks is '" + list + "'";
  if (count > 0 && firstThat(list, true, count) == count)
    return "no rank is recorded: " + given + ", and the ranks are 0 to " +
           std::to_string(count - 1);
  return "rank " + std::to_string(rank) + " and others are not recorded: " + given +
         " ('all' records every rank)";
}

std::string recordedRanks() {
  const char* list = environmentValue("MNEME_RECORD_RANKS");
  return list && *list ? list : "0";
}

int rankCount() noexcept {
  for (const char* name : {"FLUX_JOB_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_SIZE",
                           "SLURM_STEP_NUM_TASKS", "JSM_NAMESPACE_SIZE"})
    if (const char* text = environmentValue(name); text && *text)
      return std::atoi(text);
  return 0;
}

} // namespace mneme::record
