// Reports a missing -std=c++20 in one clear message instead of many obscure ones.
#ifndef GOTRACE_INTERNAL_REQUIRES_CXX20_H_
#define GOTRACE_INTERNAL_REQUIRES_CXX20_H_

#if __cplusplus < 202002L
#error "gotrace needs C++20: compile with -std=c++20 or later"
#endif

#endif  // GOTRACE_INTERNAL_REQUIRES_CXX20_H_
