#include "testing/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::abort();
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Die("pipe2");
  return {ends[0], ends[1]};
}

// Returns a terminal that changes nothing of what is written to it.
Pipe MakeTerminal() {
  Pipe terminal;
  termios settings = {};
  cfmakeraw(&settings);
  winsize size = {};
  size.ws_row = 40;
  size.ws_col = 100;
  if (openpty(&terminal.read_end, &terminal.write_end, nullptr, &settings, &size) != 0) {
    Die("openpty");
  }
  for (const int fd : {terminal.read_end, terminal.write_end}) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) Die("fcntl");
  }
  return terminal;
}

void Close(int* fd) {
  if (*fd >= 0) close(std::exchange(*fd, -1));
}

// The child's ends of the pipes.
struct ChildEnds {
  int in;
  int out;
  int err;
};

void Limit(int resource, rlim_t most) {
  const rlimit limit = {most, most};
  if (most != RLIM_INFINITY && setrlimit(resource, &limit) != 0) Die("setrlimit");
}

[[noreturn]] void BecomeProgram(const std::vector<std::string>& args, const ChildEnds& ends,
                                const SubprocessOptions& options) {
  if (dup2(ends.in, STDIN_FILENO) < 0 || dup2(ends.out, STDOUT_FILENO) < 0 ||
      dup2(ends.err, STDERR_FILENO) < 0) {
    Die("dup2");
  }
  setenv("TZ", "UTC", /*overwrite=*/1);
  for (const auto& [name, value] : options.environment) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  // The default, as in a shell, whatever the test has set.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  if (options.file_size != RLIM_INFINITY) {
    // Otherwise a program that measures coverage would report that it cannot write its profile, and
    // one that ThreadSanitizer checks would map a temporary file that the limit has cut short.
    setenv("LLVM_PROFILE_FILE", "/dev/null", /*overwrite=*/1);
    setenv("TMPDIR", "/dev/null", /*overwrite=*/1);
  }
  Limit(RLIMIT_FSIZE, options.file_size);
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  // Last, because nothing more can be allocated after that.
  Limit(RLIMIT_AS, options.address_space);
  execv(argv[0], argv.data());
  Die(argv[0]);
}

// The parent's side, which writes to and reads from the pipes as they become ready.
class Exchange {
 public:
  Exchange(const SubprocessOptions& options, int in, int out, int err)
      : options_(options), rest_(options.input), in_(in), out_(out), err_(err) {
    if (fcntl(in_, F_SETFL, O_NONBLOCK) != 0) Die("fcntl");
    if (rest_.empty()) Close(&in_);
  }

  void Run(SubprocessResult* result) {
    while (in_ >= 0 || out_ >= 0 || err_ >= 0) {
      pollfd fds[] = {{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
      if (poll(fds, 3, /*timeout=*/-1) < 0) Die("poll");
      if (fds[0].revents != 0) Feed();
      if (fds[1].revents != 0) {
        if (options_.on_output != nullptr && result->out.empty()) options_.on_output();
        Drain(&out_, options_.read_at_most, &result->out);
      }
      if (fds[2].revents != 0) Drain(&err_, SubprocessOptions::kAll, &result->err);
    }
  }

 private:
  void Feed() {
    const ssize_t count = write(in_, rest_.data(), std::min(rest_.size(), options_.piece_size));
    // The child need not read all of its input.
    if (count < 0) return Close(&in_);
    rest_.remove_prefix(static_cast<size_t>(count));
    if (rest_.empty()) Close(&in_);
  }

  static void Drain(int* fd, size_t at_most, std::string* text) {
    char buffer[1 << 16];
    const ssize_t count = read(*fd, buffer, std::min(sizeof(buffer), at_most - text->size()));
    if (count > 0) text->append(buffer, static_cast<size_t>(count));
    if (count <= 0 || text->size() >= at_most) Close(fd);
  }

  const SubprocessOptions& options_;
  absl::string_view rest_;
  int in_;
  int out_;
  int err_;
};

}  // namespace

SubprocessResult RunSubprocess(const std::vector<std::string>& args,
                               const SubprocessOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in = MakePipe();
  Pipe out = options.is_terminal ? MakeTerminal() : MakePipe();
  Pipe err = MakePipe();
  if (!options.output_path.empty()) {
    Close(&out.write_end);
    out.write_end = open(options.output_path.c_str(), O_WRONLY | O_CLOEXEC);
    if (out.write_end < 0) Die(options.output_path.c_str());
  }
  if (options.non_blocking && fcntl(out.write_end, F_SETFL, O_NONBLOCK) != 0) Die("fcntl");
  // The program must not end before its reader is gone.
  if (options.read_at_most == 0) Close(&out.read_end);
  const pid_t pid = fork();
  if (pid < 0) Die("fork");
  if (pid == 0) {
    BecomeProgram(args,
                  {in.read_end, out.write_end, options.one_pipe ? out.write_end : err.write_end},
                  options);
  }
  Close(&in.read_end);
  Close(&out.write_end);
  Close(&err.write_end);
  SubprocessResult result;
  Exchange(options, in.write_end, out.read_end, err.read_end).Run(&result);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) Die("waitpid");
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

SubprocessResult RunDump(std::vector<std::string> args, const SubprocessOptions& options) {
  args.insert(args.begin(), absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                                         std::getenv("TEST_WORKSPACE"), "/tools/gotrace-dump"));
  return RunSubprocess(args, options);
}

std::string DumpOutput(const std::vector<std::string>& args, const SubprocessOptions& options) {
  const SubprocessResult result = RunDump(args, options);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  return result.out;
}

void ExpectFailure(const SubprocessResult& result, int exit_code, const std::string& out,
                   const std::string& err) {
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.out, out);
  EXPECT_EQ(result.err, err);
}

}  // namespace gotrace::internal
