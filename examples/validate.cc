#include <gotrace/validate.h>

#include <cstdio>
#include <iostream>

// Prints what is wrong with a trace, and where.
int main(int argc, char** argv) {
  gotrace::ValidateOptions options;
  options.strictness = gotrace::Strictness::kGo;
  const gotrace::ValidationReport report =
      gotrace::ValidateFile(argc > 1 ? argv[1] : "trace.out", options);
  for (const gotrace::Finding& finding : report.findings) {
    std::puts(gotrace::FormatFinding(finding).c_str());
  }
  std::puts(gotrace::FormatVerdict(report).c_str());
  if (!report.status.ok()) std::cerr << report.status.message() << '\n';
  return report.verdict() == gotrace::Verdict::kSound ? 0 : 1;
}
