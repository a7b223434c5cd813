// Room compiler: messages to and from the compiler process. Needs no LLVM.
//
// A message is a magic, a checksum of the rest, then packed fields. Both sides belong to one build.
// The magic changes with the format, so that a program of another version is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {

/// The answer of the compiler process: a result, or the error of compile().
struct Answer {
  ErrorCode code = ErrorCode::Ok;
  std::string message;
  Result result;
};

/// Sent at once, before the answer: the request has been accepted.
inline constexpr unsigned char kTaken = 'T';

std::string packRequest(const Request& request);
/// Returns nothing if the bytes are not a complete request of this version.
std::optional<Request> unpackRequest(std::span<const std::byte> bytes);

std::string packAnswer(const Answer& answer);
/// Returns nothing if the bytes are not a complete answer of this version.
std::optional<Answer> unpackAnswer(std::span<const std::byte> bytes);

} // namespace mneme::compile
