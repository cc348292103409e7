#include "export/sqlite/sql_functions.h"

#include <regex.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "export/table/table.h"

namespace gotrace::internal {
namespace {

void ReturnText(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// quantile_disc(value, q): the smallest value that at least the share q of all values does not
// exceed, as in DuckDB. NULL values do not count.
struct Quantile {
  bool has_share = false;
  bool has_reals = false;
  double share = 0;
  std::vector<int64_t> integers;
  std::vector<double> reals;
};

void AddValue(sqlite3_context* context, sqlite3_value** values) {
  auto** const slot =
      static_cast<Quantile**>(sqlite3_aggregate_context(context, sizeof(Quantile*)));
  if (slot == nullptr) return sqlite3_result_error_nomem(context);
  if (*slot == nullptr) *slot = new Quantile();
  Quantile& quantile = **slot;
  if (!quantile.has_share) {
    quantile.share = sqlite3_value_double(values[1]);
    quantile.has_share = true;
    if (!(quantile.share >= 0 && quantile.share <= 1)) {
      return sqlite3_result_error(context, "quantile_disc: the share must be from 0 to 1", -1);
    }
  }
  switch (sqlite3_value_numeric_type(values[0])) {
    case SQLITE_INTEGER:
      if (!quantile.has_reals) {
        quantile.integers.push_back(sqlite3_value_int64(values[0]));
        return;
      }
      break;
    case SQLITE_NULL:
      return;
    default:
      if (!quantile.has_reals) {
        quantile.reals.assign(quantile.integers.begin(), quantile.integers.end());
        quantile.integers.clear();
        quantile.has_reals = true;
      }
      break;
  }
  quantile.reals.push_back(sqlite3_value_double(values[0]));
}

// No exception may reach SQLite.
void AddToQuantile(sqlite3_context* context, int, sqlite3_value** values) {
  try {
    AddValue(context, values);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

template <class T>
T TakeQuantile(double share, std::vector<T>* values) {
  const double count = static_cast<double>(values->size());
  const double rank = std::max(count - std::floor(count - share * count), 1.0);
  const auto place = values->begin() + static_cast<ptrdiff_t>(rank) - 1;
  std::nth_element(values->begin(), place, values->end());
  return *place;
}

void ReturnQuantile(sqlite3_context* context) {
  auto** const slot = static_cast<Quantile**>(sqlite3_aggregate_context(context, 0));
  if (slot == nullptr || *slot == nullptr) return sqlite3_result_null(context);
  const std::unique_ptr<Quantile> quantile(*slot);
  if (quantile->integers.empty() && quantile->reals.empty()) return sqlite3_result_null(context);
  if (quantile->has_reals) {
    sqlite3_result_double(context, TakeQuantile(quantile->share, &quantile->reals));
  } else {
    sqlite3_result_int64(context, TakeQuantile(quantile->share, &quantile->integers));
  }
}

template <std::string (*kFormat)(int64_t)>
void ReturnFormatted(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return sqlite3_result_null(context);
  ReturnText(context, kFormat(sqlite3_value_int64(values[0])));
}

// greatest(a, b, …) and least(a, b, …): the largest and smallest number that is not NULL.
template <bool kGreatest>
void ReturnExtreme(sqlite3_context* context, int count, sqlite3_value** values) {
  sqlite3_value* extreme = nullptr;
  for (int i = 0; i < count; ++i) {
    if (sqlite3_value_type(values[i]) == SQLITE_NULL) continue;
    const auto is_less = [](sqlite3_value* a, sqlite3_value* b) {
      if (sqlite3_value_type(a) == SQLITE_INTEGER && sqlite3_value_type(b) == SQLITE_INTEGER) {
        return sqlite3_value_int64(a) < sqlite3_value_int64(b);
      }
      return sqlite3_value_double(a) < sqlite3_value_double(b);
    };
    if (extreme == nullptr ||
        (kGreatest ? is_less(extreme, values[i]) : is_less(values[i], extreme))) {
      extreme = values[i];
    }
  }
  if (extreme == nullptr) return sqlite3_result_null(context);
  sqlite3_result_value(context, extreme);
}

struct Pattern {
  regex_t regex;
  ~Pattern() { regfree(&regex); }
};

// text REGEXP pattern: whether a part of the text matches a POSIX extended regular expression.
void ReturnMatches(sqlite3_context* context, int, sqlite3_value** values) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
  if (text == nullptr || sqlite3_value_type(values[0]) == SQLITE_NULL) {
    return sqlite3_result_null(context);
  }
  auto* pattern = static_cast<Pattern*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<Pattern> compiled;
  if (pattern == nullptr) {
    regex_t regex;
    const auto* const source = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    const int error = regcomp(&regex, source, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
      char reason[200];
      regerror(error, &regex, reason, sizeof(reason));
      const std::string message = std::string("REGEXP: ") + source + ": " + reason;
      return sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
    }
    compiled.reset(new Pattern{regex});
    pattern = compiled.get();
  }
  sqlite3_result_int(context, regexec(&pattern->regex, text, 0, nullptr, 0) == 0 ? 1 : 0);
  if (compiled != nullptr) {
    sqlite3_set_auxdata(context, 0, compiled.release(),
                        [](void* old) { delete static_cast<Pattern*>(old); });
  }
}

}  // namespace

const char* SqliteSourceId() { return sqlite3_sourceid(); }

int RegisterSqlFunctions(sqlite3* db) {
  sqlite3_stmt* test = nullptr;
  const bool has_regexp =
      sqlite3_prepare_v2(db, "SELECT '' REGEXP ''", -1, &test, nullptr) == SQLITE_OK;
  sqlite3_finalize(test);
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  struct Function {
    const char* name;
    int arguments;
    void (*call)(sqlite3_context*, int, sqlite3_value**);
    void (*step)(sqlite3_context*, int, sqlite3_value**);
    void (*final)(sqlite3_context*);
  };
  constexpr Function kFunctions[] = {
      {"quantile_disc", 2, nullptr, AddToQuantile, ReturnQuantile},
      {"format_duration", 1, ReturnFormatted<FormatNanoseconds>, nullptr, nullptr},
      {"format_bytes", 1, ReturnFormatted<FormatBytes>, nullptr, nullptr},
      {"greatest", -1, ReturnExtreme<true>, nullptr, nullptr},
      {"least", -1, ReturnExtreme<false>, nullptr, nullptr},
      {"regexp", 2, ReturnMatches, nullptr, nullptr},
  };
  for (const Function& function : kFunctions) {
    if (has_regexp && function.call == ReturnMatches) continue;
    const int code =
        sqlite3_create_function_v2(db, function.name, function.arguments, kFlags, nullptr,
                                   function.call, function.step, function.final, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace gotrace::internal
