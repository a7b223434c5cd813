// Our declarations of rocprofiler-sdk against what its headers say: numbers and places as compilers
// gave them for those of 0.4.0 (https://github.com/ROCm/rocprofiler-sdk, tag rocm-6.2.0) and of
// 1.2.1 (in PyPI's triton 3.9.0), which differ where two forms are declared.
#include "runtime/profile/hip/rocprofiler.h"

#include <doctest/doctest.h>

using namespace mneme::profile::rocprofiler;

TEST_CASE("records of rocprofiler-sdk are read where its headers have them") {
  CHECK(sizeof(DispatchRecord) == 184);
  CHECK(offsetof(DispatchRecord, kind) == 8);
  CHECK(offsetof(DispatchRecord, startNs) == 40);
  CHECK(offsetof(DispatchRecord, endNs) == 48);
  CHECK(offsetof(DispatchRecord, kernel) == 80);
  CHECK(offsetof(DispatchRecord, groupBytes) == 100);
  CHECK(offsetof(DispatchRecord, workgroup) == 104);
  CHECK(offsetof(DispatchRecord, grid) == 116);
  CHECK(offsetof(KernelSymbol, kernel) == 8);
  CHECK(offsetof(KernelSymbol, name) == 24);
  CHECK(offsetof(KernelSymbol, groupBytes) == 48);
  CHECK(offsetof(RecordHeader, payload) == 8);
  CHECK(sizeof(ConfigureResult) == 32);
}

TEST_CASE("both forms of what tools are called with are as the headers have them") {
  CHECK(sizeof(CallbackRecord0) == 56);
  CHECK(offsetof(CallbackRecord0, kind) == 32);
  CHECK(offsetof(CallbackRecord0, operation) == 36);
  CHECK(offsetof(CallbackRecord0, phase) == 40);
  CHECK(offsetof(CallbackRecord0, payload) == 48);
  CHECK(sizeof(CallbackRecord1) == 64);
  CHECK(offsetof(CallbackRecord1, kind) == 40);
  CHECK(offsetof(CallbackRecord1, operation) == 44);
  CHECK(offsetof(CallbackRecord1, phase) == 48);
  CHECK(offsetof(CallbackRecord1, payload) == 56);
  CHECK(sizeof(Client0) == 16);
  CHECK(offsetof(Client0, handle) == 8);
  CHECK(sizeof(Client1) == 24);
  CHECK(offsetof(Client1, handle) == 16);
}
