#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "include/mneme/label.hpp"
#include "runtime/core/abi/mneme_rt.h"

namespace {

using Texts = std::vector<std::string>;

Texts labels() {
  const char* found[64];
  const size_t count = mneme_rt_labels(found, std::size(found));
  return {found, found + count};
}

} // namespace

TEST_CASE("a label lasts as long as its scope, inside of others") {
  CHECK(labels().empty());
  {
    const mneme::label outer("step");
    CHECK(labels() == Texts{"step"});
    {
      const mneme::label inner(std::string("advection").c_str());
      CHECK(labels() == Texts{"step", "advection"});
    }
    CHECK(labels() == Texts{"step"});
  }
  CHECK(labels().empty());
}

TEST_CASE("each thread has its own labels") {
  const mneme::label mine("mine");
  Texts others{"?"};
  std::thread([&] {
    const Texts before = labels();
    const mneme::label its("its");
    others = labels();
    CHECK(before.empty());
  }).join();
  CHECK(others == Texts{"its"});
  CHECK(labels() == Texts{"mine"});
}

TEST_CASE("no room and no balance do no harm") {
  mneme_pop_label();
  for (int depth = 0; depth < 100; ++depth)
    mneme_push_label("deep");
  CHECK(labels().size() == 32);
  for (int depth = 0; depth < 68; ++depth)
    mneme_pop_label();
  CHECK(labels().size() == 32);
  mneme_pop_label();
  CHECK(labels().size() == 31);
  mneme_push_label("again");
  CHECK(labels().back() == "again");
  for (int depth = 0; depth < 40; ++depth)
    mneme_pop_label();
  CHECK(labels().empty());
  const mneme::label null(nullptr);
  CHECK(labels() == Texts{""});
}

TEST_CASE("a long label ends between characters") {
  std::string text(254, 'a');
  text += "\u00e4end";
  const mneme::label scope(text.c_str());
  CHECK(labels() == Texts{std::string(254, 'a')});
}
