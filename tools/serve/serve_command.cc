// The command `serve`: shows a trace in a browser.
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/trace_view.h"
#include "tools/cli/command.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/shared_flags.h"
#include "tools/serve/http_server.h"
#include "tools/serve/page_server.h"
#include "tools/serve/viewed_trace.h"
#include "web/page_files.h"

extern char** environ;

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "serve",
    .summary = "show a trace in a browser",
    .description =
        "Shows the trace as a page: what its Ps, goroutines and threads did, at any zoom, with "
        "tables and profiles of any part of it. Prints the URL as soon as the page answers, opens "
        "it in a browser if there is one, and runs until Ctrl-C.\n"
        "\n"
        "Only this machine can reach the page, and only with the token in its URL. The trace may "
        "be of any size: it is read once for an overview, and then where somebody looks. One that "
        "can be read only once, or is compressed, is unpacked to a temporary file first.",
    .examples =
        "  gotrace-dump serve trace.out\n"
        "  gotrace-dump serve --port=8080 --no-open trace.out\n",
    .exit_codes =
        "  2  wrong usage, or the trace cannot be read, or the port cannot be used\n"
        "The command ends with a signal otherwise.",
};

absl::StatusOr<std::string> MakeToken() {
  char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::ErrnoToStatus(errno, "getting random bytes");
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

// Opens a URL in the browser of the person, if there is one.
void OpenBrowser(std::string url) {
  const auto has = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  std::string program = "xdg-open";
  if (has("BROWSER")) {
    program = std::getenv("BROWSER");
  } else if (!has("DISPLAY") && !has("WAYLAND_DISPLAY")) {
    return;
  }
  // What it prints is of no use here.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  char* const args[] = {program.data(), url.data(), nullptr};
  pid_t pid = 0;
  posix_spawnp(&pid, program.c_str(), &actions, nullptr, args, environ);
  posix_spawn_file_actions_destroy(&actions);
}

class ServeCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        {.name = "port",
         .value = "N",
         .help = "The port to listen on, at the address 127.0.0.1. Default: 0, a free one.",
         .set = SetNumber(0, &port_)},
        {.name = "no-open",
         .value = "",
         .help = "Do not open a browser.",
         .set = SetSwitch(&no_open_)}};
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOne), &rows);
    return rows;
  }

  absl::Status Check() const override {
    constexpr uint64_t kMaxPort = 65535;
    if (port_ > kMaxPort) return absl::InvalidArgumentError("--port must be at most 65535");
    return absl::OkStatus();
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const absl::Status status = Serve(file, out);
    return Conclude(file, {.status = status}, out);
  }

 private:
  absl::Status Serve(const std::string& file, Output* out) const {
    // Each connection has a thread. With a heap of its own, each would keep the memory that it
    // needed for its answers: hundreds of megabytes for a trace of a busy program.
    mallopt(M_ARENA_MAX, 1);
    std::atomic<bool> is_over = false;
    const absl::StatusOr<std::unique_ptr<ViewedTrace>> trace =
        ViewedTrace::Open(file, input_, [&] { return !is_over; });
    if (!trace.ok()) return trace.status();
    TraceView& view = (*trace)->view();
    absl::StatusOr<std::unique_ptr<HttpServer>> server =
        HttpServer::Listen(static_cast<uint16_t>(port_));
    if (!server.ok()) return server.status();
    absl::StatusOr<std::string> token = MakeToken();
    if (!token.ok()) return token.status();
    const PageServer pages(*token, PageFiles(),
                           [&](const auto&... request) { return view.Answer(request...); });

    const std::string url =
        absl::StrCat("http://127.0.0.1:", (*server)->port(), "/?token=", *token);
    out->buffer().Append(url, "\n");
    out->Flush();
    if (!no_open_) OpenBrowser(url);
    std::thread reader([&] {
      const absl::Status read = view.Read();
      // The page shows what can be saved.
      if (!read.ok() && !is_over) Note(file, read.message());
    });
    (*server)->Run([&](const auto&... request) { return pages.Answer(request...); });
    is_over = true;
    reader.join();
    return absl::OkStatus();
  }

  uint64_t port_ = 0;
  bool no_open_ = false;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace gotrace::internal
