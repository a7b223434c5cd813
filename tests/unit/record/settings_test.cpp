#include <cstdlib>
#include <map>

#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "runtime/recorder/ranks.h"
#include "runtime/recorder/record_settings.h"

namespace mneme::record::test {
namespace {

/// The environment of the recorder, and nothing else of it, while this lives.
class Environment {
public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"MNEME_DATA_DIR",
                             "MNEME_LOG_DIR",
                             "MNEME_PAGE_SIZE",
                             "MNEME_MAX_RECORDINGS",
                             "MNEME_SKIP_RECORDINGS",
                             "MNEME_KERNEL_PATIENCE",
                             "MNEME_RR_KERNELS",
                             "MNEME_RECORD_DIMS",
                             "MNEME_EPILOGUE_TYPE",
                             "MNEME_GRAPHS",
                             "MNEME_SECTIONS",
                             "MNEME_RECORD_RANKS",
                             "FLUX_TASK_RANK",
                             "OMPI_COMM_WORLD_RANK",
                             "PMI_RANK",
                             "MPI_RANK",
                             "SLURM_PROCID",
                             "JSM_NAMESPACE_RANK",
                             "PMIX_RANK",
                             "PBS_TASKNUM"})
      unsetenv(name);
    for (const auto& [name, value] : values)
      setenv(name.c_str(), value.c_str(), 1);
  }
};

std::string refusal(const std::string& name, const std::string& value) {
  const Environment environment({{name, value}});
  try {
    readSettings();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::InvalidArgument);
    return error.what();
  }
  return "accepted";
}

} // namespace

TEST_CASE("defaults are those of the documentation") {
  const Environment environment({});
  const Settings settings = readSettings();
  CHECK(settings.directory == std::filesystem::current_path());
  CHECK(settings.windowBytes == 0);
  CHECK(settings.maxRecordings == 4);
  CHECK(settings.skipRecordings == 0);
  CHECK(settings.epilogue == artifact::EpilogueFormat::Diff);
  CHECK(settings.kernelPatience == std::chrono::seconds(30));
  CHECK_FALSE(settings.areGraphsWhole);
  CHECK(settings.isRankRecorded);
  CHECK(settings.wants("_Z1kv", "k()"));
}

TEST_CASE("values are read") {
  const Environment environment({{"MNEME_PAGE_SIZE", "0.5"},
                                 {"MNEME_MAX_RECORDINGS", "7"},
                                 {"MNEME_SKIP_RECORDINGS", "3"},
                                 {"MNEME_EPILOGUE_TYPE", "bytes"},
                                 {"MNEME_KERNEL_PATIENCE", "0.25"},
                                 {"MNEME_GRAPHS", "whole"},
                                 {"MNEME_DATA_DIR", "/tmp"},
                                 {"MNEME_RR_KERNELS", "^_Z5spmvP|vector<"}});
  const Settings settings = readSettings();
  CHECK(settings.windowBytes == 512ull << 20);
  CHECK(settings.maxRecordings == 7);
  CHECK(settings.skipRecordings == 3);
  CHECK(settings.epilogue == artifact::EpilogueFormat::Bytes);
  CHECK(settings.kernelPatience == std::chrono::milliseconds(250));
  CHECK(settings.areGraphsWhole);
  CHECK(settings.directory == "/tmp");
  CHECK(settings.wants("_Z5spmvPf", "spmv(float*)"));
  CHECK(settings.wants("_Z1kIf", "k<vector<float>>"));
  CHECK_FALSE(settings.wants("_Z4axpyPf", "axpy(float*)"));
  CHECK_FALSE(settings.wants(std::string(1 << 20, 'x'), std::string(1 << 20, 'y')));
}

TEST_CASE("kernels are named by lines and by names together") {
  const Environment environment(
      {{"MNEME_RR_KERNELS", "advec_mom.cpp:120|halo(x|y)|src/a.b/c++.cu:7"}});
  const Settings settings = readSettings();
  const SourcePlace body{.file = "src/advec_mom.cpp", .line = 118, .endLine = 122};
  CHECK(settings.wants("_Z1kv", "k()", body));
  CHECK_FALSE(settings.wants("_Z1kv", "k()"));
  CHECK_FALSE(settings.wants("_Z1kv", "k()", {"src/advec_mom.cpp", 121, 130}));
  CHECK_FALSE(settings.wants("_Z1kv", "k()", {"src/my_advec_mom.cpp", 118, 122}));
  CHECK(settings.wants("_Z1kv", "k()", {"/home/src/a.b/c++.cu", 7, 7}));
  CHECK(settings.wants("_Z5halox", "halox()"));
  CHECK(settings.wantsLabel("step/haloy"));
  CHECK_FALSE(settings.wantsLabel("advec_mom.cpp:120"));
}

TEST_CASE("a line alone names no other kernel") {
  const Environment environment({{"MNEME_RR_KERNELS", "a.cpp:1"}});
  const Settings settings = readSettings();
  CHECK_FALSE(settings.wants("_Z1kv", "k()"));
  CHECK_FALSE(settings.wantsLabel("k"));
}

TEST_CASE("what is not a line of a file is an expression") {
  for (const char* text : {"ns::k:1", "k", "k:7", ".cu:7", "a.cu:", "a.cu:x", "a.:7", "(a.cu:7)"})
    CHECK_FALSE(SourceLine::parse(text));
}

TEST_CASE("values that make no sense are refused by name") {
  CHECK(refusal("MNEME_PAGE_SIZE", "four").find("MNEME_PAGE_SIZE='four'") == 0);
  CHECK(refusal("MNEME_PAGE_SIZE", "-1").find("between") != std::string::npos);
  CHECK(refusal("MNEME_PAGE_SIZE", "nan").find("between") != std::string::npos);
  CHECK(refusal("MNEME_MAX_RECORDINGS", "-1").find("whole number") != std::string::npos);
  CHECK(refusal("MNEME_SKIP_RECORDINGS", "1x").find("whole number") != std::string::npos);
  for (const char* time : {"soon", "0", "-1", "nan", "inf"})
    CHECK(refusal("MNEME_KERNEL_PATIENCE", time).find("a time in seconds") != std::string::npos);
  CHECK(refusal("MNEME_EPILOGUE_TYPE", "text").find("bytes, diff, best") != std::string::npos);
  CHECK(refusal("MNEME_GRAPHS", "x").find("not one of parts, kept, whole") != std::string::npos);
  CHECK(refusal("MNEME_SECTIONS", "x").find("neither only nor ignored") != std::string::npos);
  CHECK(refusal("MNEME_RR_KERNELS", "a(").find("regular expression") != std::string::npos);
  CHECK(refusal("MNEME_RECORD_DIMS", "64/").find("is not a list of GRID/BLOCK") !=
        std::string::npos);
  CHECK(refusal("MNEME_DATA_DIR", "/nowhere/at/all").find("existing directory") !=
        std::string::npos);
  CHECK(refusal("MNEME_LOG_DIR", "/nowhere/at/all").find("existing directory") !=
        std::string::npos);
  CHECK(refusal("MNEME_RECORD_RANKS", "1-").find("0,2-3") != std::string::npos);
}

TEST_CASE("rank lists") {
  CHECK(isRankListed("0", 0));
  CHECK_FALSE(isRankListed("0", 1));
  CHECK(isRankListed("0,2-3", 3));
  CHECK_FALSE(isRankListed("0,2-3", 1));
  CHECK(isRankListed("all", 17));
  CHECK(isRankListed("5", -1)); // no rank: not an MPI process
  for (const char* bad : {"x", "1-", "3-1", "1,,2", "-1", "1-2-3"})
    CHECK_THROWS_AS(isRankListed(bad, 0), Error);
}

TEST_CASE("one of the ranks that are not recorded says which are") {
  CHECK(remarkOnRank("0", 1, 4) ==
        "rank 1 and others are not recorded: --record-ranks is '0' ('all' records every rank)");
  CHECK(remarkOnRank("0", 2, 4).empty());
  CHECK(remarkOnRank("5", 0, 2) ==
        "no rank is recorded: --record-ranks is '5', and the ranks are 0 to 1");
  CHECK(remarkOnRank("5", 1, 2).empty());
  CHECK(remarkOnRank("5", 0, 0).find("rank 0 and others are not recorded") == 0);
}

TEST_CASE("only rank 0 is recorded unless asked") {
  {
    const Environment environment({{"PMI_RANK", "1"}});
    CHECK_FALSE(readSettings().isRankRecorded);
  }
  const Environment environment({{"PMI_RANK", "1"}, {"MNEME_RECORD_RANKS", "all"}});
  CHECK(readSettings().isRankRecorded);
}

} // namespace mneme::record::test
