#include "tools/serve/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gotrace::internal {
namespace {

// How long a client may take to send a request, or to take the next bytes of an answer.
constexpr absl::Duration kTimeout = absl::Seconds(30);

// How often a thread that waits looks whether the server ends, in milliseconds.
constexpr int kLook = 200;

// How often keep_going looks whether the client is gone.
constexpr absl::Duration kLookForClient = absl::Milliseconds(20);

absl::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

// Sends everything, or returns false if the client does not take it.
bool SendAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool SendAnswer(int fd, const HttpAnswer& answer, bool has_body, bool keeps_connection) {
  std::string head = absl::StrCat("HTTP/1.1 ", answer.status, " ", ReasonOf(answer.status),
                                  "\r\nContent-Type: ", answer.media_type,
                                  "\r\nContent-Length: ", answer.body.size(), "\r\n");
  for (const auto& [name, value] : answer.headers)
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  absl::StrAppend(&head, keeps_connection ? "" : "Connection: close\r\n", "\r\n");
  if (has_body) head += answer.body;
  return SendAll(fd, head);
}

// Looks now and then whether the client of a request is gone, or the server ends.
class KeepGoing {
 public:
  KeepGoing(int fd, const std::atomic<bool>& is_stopped) : fd_(fd), is_stopped_(is_stopped) {}

  bool operator()() {
    if (is_over_) return false;
    if (is_stopped_) return !(is_over_ = true);
    const int64_t now = absl::GetCurrentTimeNanos();
    int64_t next = next_look_;
    if (now < next ||
        !next_look_.compare_exchange_strong(next, now + absl::ToInt64Nanoseconds(kLookForClient))) {
      return true;
    }
    // A client that wants nothing more closes the connection, at least for what it would send.
    char byte;
    const ssize_t count = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_gone = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (is_gone) is_over_ = true;
    return !is_gone;
  }

 private:
  const int fd_;
  const std::atomic<bool>& is_stopped_;
  std::atomic<bool> is_over_ = false;
  std::atomic<int64_t> next_look_ = 0;
};

}  // namespace

struct HttpServer::Connections {
  std::mutex mutex;
  std::condition_variable has_ended;
  int count = 0;
  std::atomic<bool> is_stopped = false;

  // Waits until there are at most `most` connections.
  void WaitForAtMost(int most) {
    std::unique_lock lock(mutex);
    has_ended.wait(lock, [&] { return count <= most; });
  }

  // Waits until `fd` can be read; returns false if the server ends meanwhile, or at the deadline.
  bool WaitFor(int fd, absl::Time deadline) const {
    pollfd waited = {.fd = fd, .events = POLLIN, .revents = 0};
    while (!is_stopped && absl::Now() < deadline) {
      const int ready = poll(&waited, 1, kLook);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  void Serve(int fd, const Handler& handler) const;
};

// Answers the requests of one connection, until either side closes it.
void HttpServer::Connections::Serve(int fd, const Handler& handler) const {
  std::string received;
  while (true) {
    const absl::Time deadline = absl::Now() + kTimeout;
    size_t size = FindHttpHead(received);
    while (size == 0) {
      if (received.size() > kMaxHttpHead) {
        SendAnswer(fd, {400, "text/plain", "the request is too long\n"}, true, false);
        return;
      }
      if (!WaitFor(fd, deadline)) return;
      char buffer[4096];
      const ssize_t count = recv(fd, buffer, sizeof(buffer), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      received.append(buffer, static_cast<size_t>(count));
      size = FindHttpHead(received);
    }
    const std::optional<HttpRequest> request =
        ParseHttpRequest(absl::string_view(received).substr(0, size));
    if (!request.has_value()) {
      SendAnswer(fd, {400, "text/plain", "not a request\n"}, true, false);
      return;
    }
    const bool is_head = request->method == "HEAD";
    if (!is_head && request->method != "GET") {
      SendAnswer(fd, {405, "text/plain", "only GET and HEAD\n", {{"Allow", "GET, HEAD"}}}, true,
                 false);
      return;
    }
    if (request->HasBody()) {
      SendAnswer(fd, {400, "text/plain", "a request must not have a body\n"}, !is_head, false);
      return;
    }
    received.erase(0, size);
    const bool keeps = request->KeepsConnection() && !is_stopped;
    KeepGoing keep_going(fd, is_stopped);
    const HttpAnswer answer = handler(*request, std::ref(keep_going));
    if (!SendAnswer(fd, answer, !is_head, keeps) || !keeps) return;
  }
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot make a socket");
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("cannot use port ", port));
    close(fd);
    return status;
  }
  return std::unique_ptr<HttpServer>(new HttpServer(fd, ntohs(address.sin_port)));
}

HttpServer::HttpServer(int fd, uint16_t port)
    : fd_(fd), port_(port), connections_(std::make_unique<Connections>()) {}

HttpServer::~HttpServer() {
  Stop();
  close(fd_);
  connections_->WaitForAtMost(0);
}

void HttpServer::Stop() { connections_->is_stopped = true; }

void HttpServer::Run(const Handler& handler) {
  Connections& connections = *connections_;
  while (!connections.is_stopped) {
    if (!connections.WaitFor(fd_, absl::InfiniteFuture())) continue;
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      // Nothing can be opened until something is closed.
      absl::SleepFor(absl::Milliseconds(kLook));
      continue;
    }
    const timeval timeout = absl::ToTimeval(kTimeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    connections.WaitForAtMost(kMaxConnections - 1);
    {
      const std::lock_guard lock(connections.mutex);
      ++connections.count;
    }
    std::thread([&connections, &handler, fd] {
      connections.Serve(fd, handler);
      close(fd);
      // The server may be gone as soon as the lock is.
      const std::lock_guard lock(connections.mutex);
      --connections.count;
      connections.has_ended.notify_all();
    }).detach();
  }
  // The handler may be gone afterwards.
  connections.WaitForAtMost(0);
}

}  // namespace gotrace::internal
