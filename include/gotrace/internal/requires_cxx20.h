// Says what is missing where the compiler would only point at the places that need it.
#ifndef GOTRACE_INTERNAL_REQUIRES_CXX20_H_
#define GOTRACE_INTERNAL_REQUIRES_CXX20_H_

#if __cplusplus < 202002L
#error "gotrace needs C++20: compile with -std=c++20 or later"
#endif

#endif  // GOTRACE_INTERNAL_REQUIRES_CXX20_H_
