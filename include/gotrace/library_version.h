// The release of gotrace. Builds, packages and documents take it from here; docs/stability.md
// describes the meaning of the numbers.
#ifndef GOTRACE_LIBRARY_VERSION_H_
#define GOTRACE_LIBRARY_VERSION_H_

// The version as text, and its numbers, for `#if`.
#define GOTRACE_VERSION "0.3.0"
#define GOTRACE_VERSION_MAJOR 0
#define GOTRACE_VERSION_MINOR 3
#define GOTRACE_VERSION_PATCH 0

#endif  // GOTRACE_LIBRARY_VERSION_H_
