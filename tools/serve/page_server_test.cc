#include "tools/serve/page_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tools/serve/http_request.h"
#include "tools/serve/http_server.h"

namespace gotrace::internal {
namespace page_server_test {

constexpr PageFile kFiles[] = {
    {"index.html", "<link href=\"page.css\"><script src=\"page.js\"></script>"},
    {"page.js", "run()"},
    {"page.css", "body{}"}};

HttpRequest RequestOf(absl::string_view target, absl::string_view host = "127.0.0.1:80",
                      absl::string_view more = "") {
  const std::optional<HttpRequest> request = ParseHttpRequest(
      absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: ", host, "\r\n", more, "\r\n"));
  EXPECT_TRUE(request.has_value());
  return request.value_or(HttpRequest());
}

const std::string* HeaderOf(const HttpAnswer& answer, absl::string_view name) {
  for (const auto& [known, value] : answer.headers) {
    if (known == name) return &value;
  }
  return nullptr;
}

class PageServerTest : public testing::Test {
 protected:
  const PageServer server_{"secret", kFiles, [](absl::string_view request, const auto&) {
                             return ViewAnswer{200, "application/json", std::string(request)};
                           }};
};

TEST_F(PageServerTest, AnswersWithThePageAndTheViewsAnswers) {
  // The files need no token, since they have nothing of the trace.
  for (const absl::string_view query : {"", "?token=secret", "?token=wrong"}) {
    const HttpAnswer page = server_.Answer(RequestOf(absl::StrCat("/", query)));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.media_type, "text/html; charset=utf-8");
    EXPECT_EQ(page.body, kFiles[0].bytes);
    EXPECT_EQ(server_.Answer(RequestOf(absl::StrCat("/page.js", query))).body, "run()");
    EXPECT_EQ(server_.Answer(RequestOf(absl::StrCat("/page.css", query))).media_type,
              "text/css; charset=utf-8");
  }
  EXPECT_EQ(server_.Answer(RequestOf("/api/lanes?ids=p:0&token=secret&to=5")).body,
            "lanes?ids=p:0&to=5");
  EXPECT_EQ(server_.Answer(RequestOf("/api/trace?token=secret")).body, "trace");
  EXPECT_EQ(server_.Answer(RequestOf("/api/trace", "[::1]", "X-Gotrace-Token: secret\r\n")).body,
            "trace");
  EXPECT_EQ(server_.Answer(RequestOf("/api/../../etc/passwd?token=secret")).body,
            "../../etc/passwd");
  for (const absl::string_view path : {"/index", "/page.j", "/../page.js", "/api", "//"}) {
    EXPECT_EQ(server_.Answer(RequestOf(absl::StrCat(path, "?token=secret"))).status, 404) << path;
  }
}

TEST_F(PageServerTest, RefusesWhoeverLacksTheToken) {
  for (const absl::string_view target :
       {"/api/trace", "/api/?token=", "/api/?token=secre", "/api/trace?token=secret2",
        "/api/trace?token=Secret", "/api/trace?x=secret", "/api/nothing",
        "/api/trace?token=secret&token=x"}) {
    const HttpAnswer answer = server_.Answer(RequestOf(target));
    EXPECT_EQ(answer.status, 403) << target;
    EXPECT_FALSE(absl::StrContains(answer.body, "secret"));
  }
}

TEST(PageServer, NamesFilesToSave) {
  const PageServer server("secret", kFiles, [](absl::string_view, const auto&) {
    return ViewAnswer{200, "text/plain", "x", "a\"b\r\n c.txt"};
  });
  const HttpAnswer answer = server.Answer(RequestOf("/api/save?token=secret"));
  const std::string* const disposition = HeaderOf(answer, "Content-Disposition");
  ASSERT_NE(disposition, nullptr);
  EXPECT_EQ(*disposition, "attachment; filename*=UTF-8''a%22b%0D%0A%20c.txt");
}

TEST_F(PageServerTest, RefusesForeignHosts) {
  for (const absl::string_view host :
       {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.1:80:80", "127.0.0.2", "0.0.0.0", "::1", "", "localhost:", "127.0.0.1:x"}) {
    EXPECT_EQ(server_.Answer(RequestOf("/?token=secret", host)).status, 403) << host;
  }
  for (const absl::string_view host :
       {"localhost", "LocalHost:1234", "127.0.0.1", "127.0.0.1:65535", "[::1]:80"}) {
    EXPECT_EQ(server_.Answer(RequestOf("/?token=secret", host)).status, 200) << host;
  }
  // Two hosts are none.
  EXPECT_EQ(server_.Answer(RequestOf("/?token=secret", "localhost", "Host: localhost\r\n")).status,
            403);
}

TEST_F(PageServerTest, AllowsThePageNothingButItsOwnFiles) {
  for (const absl::string_view target : {"/?token=secret", "/", "/api/trace?token=secret"}) {
    const HttpAnswer answer = server_.Answer(RequestOf(target));
    const std::string* const policy = HeaderOf(answer, "Content-Security-Policy");
    ASSERT_NE(policy, nullptr);
    EXPECT_TRUE(absl::StartsWith(*policy, "default-src 'none';"));
    EXPECT_FALSE(absl::StrContains(*policy, "unsafe"));
    EXPECT_EQ(*HeaderOf(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(*HeaderOf(answer, "Cache-Control"), "no-store");
  }
}

TEST(HttpRequest, IsReadOnlyIfItIsSound) {
  EXPECT_EQ(FindHttpHead("GET / HTTP/1.1\r\n\r\nrest"), 18);
  EXPECT_EQ(FindHttpHead("GET / HTTP/1.1\r\n"), 0);
  const std::optional<HttpRequest> request =
      ParseHttpRequest("GET /a?b=c HTTP/1.1\r\nHost:  x \r\nconnection: Close\r\n\r\n");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->Path(), "/a");
  EXPECT_EQ(request->Query(), "b=c");
  EXPECT_EQ(*request->Header("host"), "x");
  EXPECT_EQ(request->Header("cookie"), nullptr);
  EXPECT_FALSE(request->KeepsConnection());
  EXPECT_FALSE(request->HasBody());
  for (const absl::string_view head :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n", "GET x HTTP/1.1\r\n\r\n", "GET http://x/ HTTP/1.1\r\n\r\n",
        "G\x01T / HTTP/1.1\r\n\r\n", "GET /\x7f HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: x\r\n\r\n", "GET / HTTP/1.1\r\nA b: x\r\n\r\n",
        "GET / HTTP/1.1\r\nA: x\n\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\n"}) {
    EXPECT_FALSE(ParseHttpRequest(head).has_value()) << head;
  }
}

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void Send(int fd, absl::string_view bytes) {
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

// Sends bytes on a connection of its own, and returns everything that comes back.
std::string Exchange(uint16_t port, absl::string_view bytes) {
  const int fd = Connect(port);
  Send(fd, bytes);
  shutdown(fd, SHUT_WR);
  std::string received;
  char buffer[4096];
  for (ssize_t count; (count = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
    received.append(buffer, static_cast<size_t>(count));
  }
  close(fd);
  return received;
}

TEST(HttpServer, AnswersRequestsOfManyConnections) {
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(0);
  ASSERT_TRUE(server.ok()) << server.status();
  ASSERT_GT((*server)->port(), 0);
  std::thread running([&] {
    (*server)->Run([](const HttpRequest& request, const auto&) {
      return HttpAnswer{200, "text/plain", request.target};
    });
  });
  const uint16_t port = (*server)->port();
  // Two requests on one connection.
  const std::string both =
      Exchange(port, "GET /1 HTTP/1.1\r\n\r\nHEAD /22 HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(both,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n/1"
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_TRUE(absl::StartsWith(Exchange(port, "POST / HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 "));
  EXPECT_TRUE(absl::StartsWith(Exchange(port, "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
                               "HTTP/1.1 400 "));
  EXPECT_TRUE(absl::StartsWith(Exchange(port, "nonsense\r\n\r\n"), "HTTP/1.1 400 "));
  EXPECT_TRUE(
      absl::StartsWith(Exchange(port, std::string(kMaxHttpHead + 1, 'x')), "HTTP/1.1 400 "));
  EXPECT_EQ(Exchange(port, "GET / HT"), "");
  EXPECT_EQ(Exchange(port, ""), "");
  // More clients than connections at a time.
  std::vector<std::thread> clients;
  for (int i = 0; i < 2 * HttpServer::kMaxConnections; ++i) {
    clients.emplace_back([port, i] {
      const std::string target = absl::StrCat("/", i);
      EXPECT_TRUE(absl::EndsWith(Exchange(port, absl::StrCat("GET ", target, " HTTP/1.0\r\n\r\n")),
                                 target));
    });
  }
  for (std::thread& client : clients) client.join();
  (*server)->Stop();
  running.join();
}

TEST(HttpServer, TellsTheHandlerThatTheClientIsGone) {
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(0);
  ASSERT_TRUE(server.ok()) << server.status();
  std::atomic<bool> has_begun = false;
  std::atomic<int> given_up = 0;
  std::thread running([&] {
    (*server)->Run([&](const HttpRequest&, const std::function<bool()>& keep_going) {
      has_begun = true;
      while (keep_going()) absl::SleepFor(absl::Milliseconds(1));
      // It does not change its mind.
      EXPECT_FALSE(keep_going());
      ++given_up;
      return HttpAnswer{503, "text/plain", "given up"};
    });
  });
  const int fd = Connect((*server)->port());
  Send(fd, "GET / HTTP/1.1\r\n\r\n");
  while (!has_begun) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(given_up, 0);
  close(fd);
  while (given_up == 0) absl::SleepFor(absl::Milliseconds(1));
  // The same if the server ends.
  const int other = Connect((*server)->port());
  has_begun = false;
  Send(other, "GET / HTTP/1.1\r\n\r\n");
  while (!has_begun) absl::SleepFor(absl::Milliseconds(1));
  (*server)->Stop();
  running.join();
  EXPECT_EQ(given_up, 2);
  close(other);
}

TEST(HttpServer, RefusesAPortThatIsTaken) {
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(0);
  ASSERT_TRUE(server.ok());
  const auto second = HttpServer::Listen((*server)->port());
  EXPECT_FALSE(second.ok());
}

}  // namespace page_server_test
}  // namespace gotrace::internal
