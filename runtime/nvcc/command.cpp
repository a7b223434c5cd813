#include "runtime/nvcc/command.h"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base/error.h"

namespace mneme::nvcc {
namespace {

bool isPlain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-_=+./,:@%^";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (isPlain(word))
    return word;
  std::string text = "'";
  for (const char letter : word)
    if (letter == '\'')
      text += "'\\''";
    else
      text += letter;
  return text + "'";
}

/// The environment with the command's variables before all others, so that they count.
class Environment {
public:
  explicit Environment(const Command& command) {
    for (const std::string& variable : command.variables)
      pointers_.push_back(const_cast<char*>(variable.c_str()));
    for (char** inherited = environ; *inherited; ++inherited)
      if (!isReplaced(command, *inherited))
        pointers_.push_back(*inherited);
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

private:
  static bool isReplaced(const Command& command, std::string_view inherited) {
    for (const std::string& variable : command.variables)
      if (inherited.starts_with(std::string_view(variable).substr(0, variable.find('=') + 1)))
        return true;
    return false;
  }
  std::vector<char*> pointers_;
};

/// Starts a command; its process, or the negative error number.
pid_t start(const Command& command, const posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (const std::string& word : command.words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  Environment environment(command);
  const int problem =
      posix_spawnp(&process, arguments[0], actions, nullptr, arguments.data(), environment.get());
  return problem ? -problem : process;
}

int statusOf(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The command that runs, for a signal that is meant for it.
volatile pid_t running = 0;

void passOn(int signal) {
  if (running > 0)
    kill(running, signal);
  else
    _exit(128 + signal);
}

/// What a command writes to one descriptor; what it writes to the other is dropped.
std::string writtenBy(const Command& command, int wanted, int dropped) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], wanted);
  posix_spawn_file_actions_addopen(&actions, dropped, "/dev/null", O_WRONLY, 0);
  const pid_t process = start(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof(buffer))) != 0;) {
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  if (process > 0)
    statusOf(process);
  return text;
}

} // namespace

std::string shellText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string shellText(const Command& command) {
  std::vector<std::string> words = command.variables;
  words.insert(words.end(), command.words.begin(), command.words.end());
  return shellText(words);
}

int run(const Command& command) {
  // A signal that ends this program is meant for what it has started; a terminal's interrupt
  // reaches both.
  signal(SIGTERM, passOn);
  signal(SIGHUP, passOn);
  const pid_t process = start(command, nullptr);
  if (process > 0) {
    running = process;
    const int status = statusOf(process);
    running = 0;
    return status;
  }
  const std::string sentence =
      systemMessage("mneme-nvcc: cannot start '" + command.words[0] + "'", -process) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
  return 127;
}

std::string outputOf(const Command& command) {
  return writtenBy(command, STDOUT_FILENO, STDERR_FILENO);
}

std::string errorsOf(const Command& command) {
  return writtenBy(command, STDERR_FILENO, STDOUT_FILENO);
}

} // namespace mneme::nvcc
