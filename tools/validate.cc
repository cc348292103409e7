#include "tools/validate.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <system_error>
#include <thread>

#include "export/report_text.h"
#include "tracev2/text_buffer.h"

namespace gotrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ListFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const size_t first = files.size();
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const bool is_hidden = it->path().filename().string().front() == '.';
      std::error_code file_error;
      if (!is_hidden && it->is_regular_file(file_error)) files.push_back(it->path().string());
    }
    // Opening it as a file tells what is wrong with it.
    if (error) files.push_back(path);
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

struct Judged {
  Verdict verdict = Verdict::kUnjudged;
  std::string text;
};

Judged ValidateOne(const std::string& file, const ValidateCommand& command) {
  const ValidationReport report = ValidateFile(file, command.options);
  const std::string name = file == "-" ? "standard input" : file;
  TextBuffer text;
  (command.json ? AppendReportJson : AppendReport)(name, report, &text);
  return {report.verdict(), std::string(text.view())};
}

}  // namespace

ValidateSummary ValidateFiles(const ValidateCommand& command, Output* out) {
  const std::vector<std::string> files = ListFiles(command.paths);
  std::vector<std::promise<Judged>> results(files.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto work = [&] {
    while (!stopped) {
      const size_t index = next++;
      if (index >= files.size()) return;
      results[index].set_value(ValidateOne(files[index], command));
    }
  };
  ValidateSummary summary;
  // Joined on the way out, before what the threads refer to goes away.
  std::vector<std::jthread> threads;
  const size_t count = std::min(files.size(), static_cast<size_t>(std::max(command.jobs, 1)));
  for (size_t i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::promise<Judged>& result : results) {
    const Judged judged = result.get_future().get();
    int* const counts[] = {&summary.sound, &summary.broken, &summary.unjudged};
    ++*counts[static_cast<int>(judged.verdict)];
    out->buffer().Append(judged.text);
    out->Flush();
    if (!out->usable()) break;
  }
  stopped = true;
  return summary;
}

}  // namespace gotrace
