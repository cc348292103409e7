// Columns and texts of stacks that several commands share.
#ifndef GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_
#define GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/intervals/stack_places.h"
#include "export/table/table.h"
#include "gotrace/interner.h"
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

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_STACK_COLUMNS_H_
