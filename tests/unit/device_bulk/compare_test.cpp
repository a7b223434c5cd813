// The fused comparison against compareOnHost.
#include "compare_cases.h"
#include "cpu_runner.h"

using namespace mneme::device;
using namespace test;

TEST_CASE("reports are those of the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (int round = 0; round < 30; ++round) {
    std::vector<Buffers> buffers;
    std::vector<CompareRequest> requests;
    const uint64_t count = 1 + below(28);
    for (uint64_t i = 0; i < count; ++i)
      buffers.push_back(
          makeBuffers(typeAt(i + round), 16 + below(below(4) ? 300 : 60000), below(3) * below(40)));
    for (uint64_t i = 0; i < count; ++i)
      requests.push_back(randomRequest(buffers[i], typeAt(i + round), below(2) ? 0 : below(16)));
    const auto reports = bulk.compare(requests);
    REQUIRE(reports.size() == count);
    for (uint64_t i = 0; i < count; ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("buffers that differ everywhere are reported as on the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (uint64_t type = 0; type < 14; ++type) {
    Buffers buffers = makeBuffers(typeAt(type), 20003, 0);
    for (auto& byte : buffers.actual)
      byte = static_cast<std::byte>(random_());
    std::vector<CompareRequest> requests;
    for (int i = 0; i < 12; ++i)
      requests.push_back(randomRequest(buffers, typeAt(type), i));
    const auto reports = bulk.compare(requests);
    for (size_t i = 0; i < requests.size(); ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("norms of doubles whose squares overflow or vanish") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (double scale : {1e300, 1e200, 1.0, 1e-200, 1e-320}) {
    std::vector<double> actual(5000), expected(5000);
    for (size_t i = 0; i < actual.size(); ++i) {
      expected[i] = scale * (i % 7);
      actual[i] = scale * (i % 5);
    }
    std::vector<CompareRequest> requests;
    for (int norm = 1; norm <= 3; ++norm)
      for (double threshold : {0.5, 0.9, 2.0}) {
        CompareRequest request;
        request.actual = reinterpret_cast<uint64_t>(actual.data());
        request.expected = reinterpret_cast<uint64_t>(expected.data());
        request.sizeBytes = actual.size() * 8;
        request.type = DataType::F64;
        request.kind = ThresholdKind::Relative;
        request.norm = static_cast<Norm>(norm);
        request.threshold = threshold;
        requests.push_back(request);
      }
    const auto reports = bulk.compare(requests);
    for (size_t i = 0; i < requests.size(); ++i)
      checkSame(requests[i], reports[i]);
  }
}

TEST_CASE("a request with many groups of tiles is added up whole") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  Buffers buffers = makeBuffers(DataType::F32, (9 << 20) + 3, 0);
  for (uint64_t at : {uint64_t{5} << 20, (uint64_t{9} << 20) + 1})
    buffers.actual[at] ^= std::byte{1};
  for (Norm norm : {Norm::None, Norm::L2}) {
    CompareRequest request = randomRequest(buffers, DataType::F32, 0);
    request.norm = norm;
    request.kind = ThresholdKind::Relative;
    request.threshold = 1e-9;
    checkSame(request, bulk.compare({&request, 1}).at(0));
  }
}

TEST_CASE("impossible tolerances are refused as on the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  CompareRequest request;
  request.threshold = -1;
  CHECK_THROWS(bulk.compare({&request, 1}));
}
