// What a session has taken and not written, as a directory tells it after the process was killed.
#include <array>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/core/artifact/pending_file.h"
#include "runtime/core/artifact/session_file.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

TEST_CASE("what is taken is pending until it is written, once for each time it was taken") {
  const TemporaryDirectory directory;
  PendingFile file(directory.path() / "unfinished-1.pending");
  file.begins({7, 1, 100, "kernel(int, char)"});
  file.begins({7, 2, 200, "line\nbreak"});
  file.begins({7, 1, 100, "kernel(int, char)"});
  file.ends(7, 1);
  file.ends(8, 2);
  const auto pending = readPendingFile(directory.path() / "unfinished-1.pending");
  REQUIRE(pending.size() == 2);
  CHECK(pending[0].dynamicHash == 2);
  CHECK(pending[0].sizeBytes == 200);
  CHECK(pending[1].kernel == "kernel(int, char)");
  file.remove();
  CHECK(readPendingFile(directory.path() / "unfinished-1.pending").empty());
}

TEST_CASE("lines of a pending file that make no sense are passed over") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "unfinished-1.pending";
  writeFileAtomically(path, std::string("taken\ntaken x 1 2 k\nwritten\n\n\x80\xfftaken 1 2 3 k\n"
                                        "taken 1 2 -3 k\ntaken 4 5 6 kept\ntaken 4 6"));
  const auto pending = readPendingFile(path);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].kernel == "kept");
}

TEST_CASE("a loss is told to its end, where it says how often it happened") {
  const TemporaryDirectory directory;
  const auto session = directory.path() / "unfinished-1.session";
  const std::string loss = "kernel '" + std::string(2000, 'k') + "' was lost\x1b (4 times)";
  const nlohmann::json content = {{"Pid", 1},      {"StartTicks", 1},  {"Host", "h"},
                                  {"Started", ""}, {"Losses", {loss}}, {"Finished", true}};
  writeFileAtomically(session, content.dump());
  const SessionNote note = readSessionFile(session);
  REQUIRE(note.sentences.size() == 1);
  CHECK(note.sentences[0].ends_with("' was lost? (4 times)"));
}

TEST_CASE("an instance that was written before its session was killed is not called lost") {
  const TemporaryDirectory directory;
  const auto session = directory.path() / "unfinished-1.session";
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const nlohmann::json content = {{"Pid", 1 << 30},
                                  {"StartTicks", 1},
                                  {"Host", host.data()},
                                  {"Started", "2026-11-26T00:00:00Z"},
                                  {"Losses", nlohmann::json::array()},
                                  {"Finished", false}};
  writeFileAtomically(session, content.dump());
  PendingFile pending(pendingFileOf(session));
  pending.begins({7, 1, 100, "kernel(int, char)"});
  pending.begins({7, 2, 200, "kernel(int, char)"});
  CHECK(readSessionFile(session).sentences.size() == 3);

  writeSmallRecording(directory.path(), 7, 1, noise(100, 1), noise(100, 2));
  const SessionNote note = readSessionFile(session);
  REQUIRE(note.sentences.size() == 2);
  CHECK(note.sentences[1].find("lost instance 2 of kernel 'kernel(int, char)', 200 bytes") !=
        std::string::npos);
}

TEST_CASE("another session is one of any process, with the same number on another host, too") {
  const TemporaryDirectory directory;
  const std::string pid = std::to_string(getpid());
  const auto own = directory.path() / ("unfinished-" + pid + ".session");
  const auto other = directory.path() / ("unfinished-" + pid + "-elsewhere-now.session");
  nlohmann::json content = {{"Pid", getpid()},
                            {"StartTicks", 0},
                            {"Host", "elsewhere"},
                            {"Started", "2026-11-26T00:00:00Z"},
                            {"Losses", nlohmann::json::array()},
                            {"Finished", false}};
  writeFileAtomically(own, content.dump());
  CHECK(!hasOtherSession(directory.path(), own));
  writeFileAtomically(other, content.dump());
  CHECK(hasOtherSession(directory.path(), own));
  content["Finished"] = true;
  writeFileAtomically(other, content.dump());
  CHECK(!hasOtherSession(directory.path(), own));
}

} // namespace
} // namespace mneme::artifact::test
