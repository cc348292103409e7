// Columns and texts of stacks that several commands share.
#ifndef GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_
#define GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/intervals/stack_places.h"
#include "export/pprof/profile_frames.h"
#include "export/pprof/stack_labels.h"
#include "export/table/table.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Returns the place as people read it: "main.(*Cache).Get cache.go:17", or "main.handle main.go:30
// -> log.Printf"; "(unknown)" if it is not known.
std::string PlaceText(const WaitPlace& place, const Interner& interner);

// The same without the file and the line.
std::string FunctionText(const WaitPlace& place, const Interner& interner);

// Returns the columns function, file and line, for ColumnList::Add(), which only CSV and JSON have:
// the innermost frame of the program in a stack, as WaitPlace has it. `stack_of` is a member of a
// row or a function of it, with its StackId. `before` is put before the names of the columns.
// `interner` must outlive the columns.
template <class StackOf>
auto PlaceColumns(absl::string_view before, const Interner& interner, StackOf stack_of) {
  const std::string prefix(before);
  return [prefix, &interner, stack_of](auto* columns) {
    const auto places = std::make_shared<StackPlaces>(&interner);
    const auto place = [places, stack_of](const auto& row) -> const WaitPlace& {
      return places->Of(std::invoke(stack_of, row)).place;
    };
    columns
        ->Add(prefix + "function", "", Unit::kNone,
              [place, &interner](const auto& row) { return interner.String(place(row).function); })
        .Add(prefix + "file", "", Unit::kNone,
             [place, &interner](const auto& row) { return interner.String(place(row).file); })
        .Add(prefix + "line", "", Unit::kNone, [place](const auto& row) {
          const WaitPlace& found = place(row);
          return found.function == StringId::kEmpty ? Cell() : CellOf(found.line);
        });
  };
}

// Returns the labels of the stacks in all rows. `key_of(row)` returns a ProfileKey with the stack.
template <class Row, class KeyOf>
std::shared_ptr<const StackLabels> LabelsOf(absl::Span<const Row> rows, const KeyOf& key_of,
                                            const Interner& interner) {
  std::vector<StackId> stacks;
  for (const Row& row : rows) {
    const ProfileKey key = key_of(row);
    stacks.push_back(key.stack);
    stacks.push_back(key.waker);
  }
  return std::make_shared<const StackLabels>(&interner, stacks);
}

// Returns the columns of a stack, for ColumnList::Add(): `name` for programs and, unless it is "",
// `title` for people. `key_of(row)` returns a ProfileKey with the stack, and `prefix_of(row)` what
// text has before it. `interner` must outlive the columns.
template <class KeyOf, class PrefixOf>
auto StackColumns(absl::string_view name, absl::string_view title,
                  std::shared_ptr<const StackLabels> labels, const Interner& interner, KeyOf key_of,
                  PrefixOf prefix_of) {
  return [name = std::string(name), title, labels = std::move(labels), &interner, key_of,
          prefix_of](auto* columns) {
    columns->Add(name, "", Unit::kNone,
                 [key_of, &interner](const auto& row) { return StackText(key_of(row), interner); });
    if (title.empty()) return;
    columns->AddFitted(
        title,
        [=](const auto& row) { return absl::StrCat(prefix_of(row), labels->Text(key_of(row))); },
        [=](const auto& row, size_t width) {
          const absl::string_view prefix = prefix_of(row);
          const size_t room = width > prefix.size() ? width - prefix.size() : 0;
          return absl::StrCat(prefix, labels->Fit(key_of(row), room));
        });
  };
}

// The same with nothing before the stack.
template <class KeyOf>
auto StackColumns(absl::string_view name, absl::string_view title,
                  std::shared_ptr<const StackLabels> labels, const Interner& interner,
                  KeyOf key_of) {
  return StackColumns(name, title, std::move(labels), interner, key_of,
                      [](const auto& /*row*/) { return absl::string_view(); });
}

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_
