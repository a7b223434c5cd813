#include "runtime/compiler/service/compiler_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/compiler/assembler/subprocess.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/packing.h"
#include "runtime/core/base/unnoticed_child.h"

namespace mneme::compile {
namespace {

using Clock = std::chrono::steady_clock;

/// So many wait for the next request, each with some 100 MB of memory.
constexpr size_t kMostKept = 8;
constexpr int kBacklog = 4;
/// A process that closes its connection ends within `kEnding`, or is broken.
constexpr std::chrono::milliseconds kEnding{1000}, kLookAgain{1};

class Deadline {
public:
  explicit Deadline(double seconds) {
    if (seconds > 0)
      end_ = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  /// Waits until `socket` is ready for `events` or broken. False: the time is over.
  bool waitFor(int socket, short events) const {
    for (;;) {
      int rest = -1;
      if (end_)
        rest = static_cast<int>(std::max<int64_t>(
            std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()).count(), 0));
      pollfd waited = {socket, events, 0};
      const int count = poll(&waited, 1, rest);
      if (count == 0)
        return false;
      if (count > 0 || errno != EINTR)
        return true;
    }
  }

private:
  std::optional<Clock::time_point> end_;
};

struct Address {
  sockaddr_un name = {};
  socklen_t size = 0;
  pid_t owner = 0; ///< who listened first, which the system tells those who connect
};

/// A process that waits for requests.
struct Kept {
  Hash128 command = {};
  Address address;
  pid_t process = -1;
};

Hash128 hashOf(const CompilerCommand& command) {
  Packer packer;
  packer.add(bytesOf(command.program));
  for (const std::string& argument : command.arguments)
    packer.add(bytesOf(argument));
  packer.add(bytesOf(command.identity));
  for (const char* variable : environmentWithoutPreload())
    packer.add(bytesOf(std::string_view(variable ? variable : "")));
  std::error_code ignored;
  packer.add(bytesOf(std::filesystem::current_path(ignored).native()));
  packer.add(uint64_t{geteuid()});
  return hash128(packer.packed());
}

UniqueFd listenAnywhere(Address& address) {
  UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  address.name.sun_family = AF_UNIX;
  address.size = sizeof address.name;
  address.owner = getpid();
  auto* const name = reinterpret_cast<sockaddr*>(&address.name);
  // Without a name the system finds an unused one.
  if (bind(listener.get(), name, sizeof(sa_family_t)) != 0 ||
      listen(listener.get(), kBacklog) != 0 ||
      getsockname(listener.get(), name, &address.size) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot make a socket", errno));
  return listener;
}

/// Returns none if no process, or another user's process, listens there.
UniqueFd connectTo(const Address& address) {
  UniqueFd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ucred peer = {};
  socklen_t size = sizeof peer;
  const bool isOurs = connect(connection.get(), reinterpret_cast<const sockaddr*>(&address.name),
                              address.size) == 0 &&
                      getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                      peer.pid == address.owner && peer.uid == geteuid();
  return isOurs ? std::move(connection) : UniqueFd();
}

class KeptProcesses {
public:
  std::optional<Kept> take(const Hash128& command) {
    const std::lock_guard lock(mutex_);
    forgetParents();
    const auto last = std::find_if(kept_.rbegin(), kept_.rend(),
                                   [&](const Kept& one) { return one.command == command; });
    if (last == kept_.rend())
      return std::nullopt;
    Kept taken = *last;
    kept_.erase(std::next(last).base());
    return taken;
  }
  void give(const Kept& kept) {
    const std::lock_guard lock(mutex_);
    forgetParents();
    kept_.push_back(kept);
    if (kept_.size() <= kMostKept)
      return;
    // Hanging up ends it. Its number may be another process's by now.
    connectTo(kept_.front().address);
    kept_.erase(kept_.begin());
  }

private:
  void forgetParents() {
    if (std::exchange(user_, getpid()) != getpid())
      kept_.clear();
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;
  pid_t user_ = 0;
};

KeptProcesses& theKept() {
  static auto& kept = *new KeptProcesses; // static destructors may ask
  return kept;
}

/// False when the time is over.
bool sendAll(int socket, const std::string& text, const Deadline& deadline) {
  for (size_t done = 0; done < text.size();) {
    if (!deadline.waitFor(socket, POLLOUT))
      return false;
    const ssize_t count =
        send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      break; // it has hung up
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  shutdown(socket, SHUT_WR);
  return true;
}

/// Until it hangs up. False when the time is over.
bool receiveAll(int socket, std::string& text, Clock::time_point& first, const Deadline& deadline) {
  char buffer[65536];
  while (deadline.waitFor(socket, POLLIN)) {
    const ssize_t count = recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0 && text.empty())
      first = Clock::now();
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || (errno != EINTR && errno != EAGAIN))
      return true;
  }
  return false;
}

/// Returns false if no process has accepted the request.
bool converse(const Address& address, const std::string& request, const Deadline& deadline,
              Reply& reply) {
  const UniqueFd connection = connectTo(address);
  std::string text;
  const auto start = Clock::now();
  auto taken = start;
  reply.isTimedOut = connection && !(sendAll(connection.get(), request, deadline) &&
                                     receiveAll(connection.get(), text, taken, deadline));
  reply.startSeconds = std::chrono::duration<double>(taken - start).count();
  if (text.empty() || reply.isTimedOut)
    return reply.isTimedOut;
  reply.answer = unpackAnswer(bytesOf(text).subspan(1)); // behind kTaken
  return true;
}

bool isGood(const Reply& reply) { return reply.answer && reply.answer->code == ErrorCode::Ok; }

/// Ends a process of ours that is out of order, and learns what it died of.
void endProgram(pid_t program, Reply& reply) {
  const auto start = Clock::now();
  while (!reply.isTimedOut && !hasEnded(program) && Clock::now() - start < kEnding)
    std::this_thread::sleep_for(kLookAgain);
  const bool hasDied = hasEnded(program);
  kill(-program, SIGKILL);
  const int code = exitCodeOf(program);
  if (hasDied)
    reply.exitCode = code;
}

/// Whether orphans become children of this process.
bool adoptsOrphans() {
  int isReaper = 0;
  return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &isReaper) == 0 && isReaper != 0);
}

Reply askNew(const CompilerCommand& command, const Hash128& commandHash, const std::string& request,
             const Deadline& deadline) {
  Reply reply;
  Kept kept;
  kept.command = commandHash;
  bool isKept = !adoptsOrphans();
  const pid_t self = getpid();
  runUnnoticed([&] {
    isKept = isKept && getpid() != self;
    const UniqueFd messages = memoryFile("mneme-messages");
    UniqueFd listener = listenAnywhere(kept.address);
    kept.process =
        startProgram(command.program, command.arguments,
                     {messages.get(), messages.get(), listener.get()}, ProgramGroup::Own);
    listener = UniqueFd();
    converse(kept.address, request, deadline, reply);
    isKept = isKept && isGood(reply);
    if (isKept)
      return; // it goes on alone
    if (reply.answer)
      kill(-kept.process, SIGKILL);
    endProgram(kept.process, reply);
    reply.messages = contentOf(messages);
  });
  if (isKept)
    theKept().give(kept);
  return reply;
}

} // namespace

Reply askCompiler(const CompilerCommand& command, const std::string& request, double timeoutSeconds,
                  bool& diedOnce) {
  const Hash128 commandHash = hashOf(command);
  const Deadline deadline(timeoutSeconds);
  diedOnce = false;
  while (std::optional<Kept> kept = theKept().take(commandHash)) {
    Reply reply;
    if (!converse(kept->address, request, deadline, reply))
      continue; // it had ended before
    if (isGood(reply))
      theKept().give(*kept);
    if (reply.isTimedOut)
      kill(-kept->process, SIGKILL);
    if (reply.answer || reply.isTimedOut)
      return reply;
    diedOnce = true;
    break;
  }
  return askNew(command, commandHash, request, deadline);
}

} // namespace mneme::compile
