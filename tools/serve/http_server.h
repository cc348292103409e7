// A server for the pages and answers of the viewer: HTTP/1.1 on this machine, for GET and HEAD.
// cpp-httplib is not used: the version of Debian 12 cannot say that a client has gone, accepts
// bodies of any size, and would bring OpenSSL and Brotli into the program.
#ifndef GOTRACE_TOOLS_SERVE_HTTP_SERVER_H_
#define GOTRACE_TOOLS_SERVE_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/http_request.h"

namespace gotrace::internal {

struct HttpAnswer {
  int status = 200;
  std::string media_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Listens on 127.0.0.1. Each connection has a thread, which waits while the client sends nothing.
class HttpServer {
 public:
  // Called by several threads at once. `keep_going` may be called by any thread meanwhile; it
  // returns false, and does so from then on, once the client is gone or the server ends.
  using Handler = std::function<HttpAnswer(const HttpRequest& request,
                                           const std::function<bool()>& keep_going)>;

  // More connections than these at a time wait until one ends.
  static constexpr int kMaxConnections = 64;

  // Listens on a port, or on a free one if it is 0.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(uint16_t port);

  // Closes the port. Waits for the connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }

  // Answers requests until Stop() is called.
  void Run(const Handler& handler);

  // Makes Run() return soon. May be called by any thread.
  void Stop();

 private:
  struct Connections;

  HttpServer(int fd, uint16_t port);

  const int fd_;
  const uint16_t port_;
  const std::unique_ptr<Connections> connections_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_HTTP_SERVER_H_
