// Checks JSON against a JSON Schema. For tests.
#ifndef GOTRACE_TESTING_JSON_SCHEMA_H_
#define GOTRACE_TESTING_JSON_SCHEMA_H_

#include <string>

#include "testing/json_value.h"

namespace gotrace::internal {

// Returns "" if `schema` allows `value`; otherwise what it does not allow and where, for example
// "/findings/0: lacks \"id\"". Supports the keywords type, enum, minimum, pattern, required,
// properties, additionalProperties, maxProperties, items, anyOf, and $ref into the schema's own
// $defs. Any other keyword that constrains values is an error, so that none is ignored.
std::string CheckAgainstSchema(const JsonValue& schema, const JsonValue& value);

// Returns the schema in the file at `path`. If there is no such file, the test fails and this
// returns null.
JsonValue ReadSchema(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_SCHEMA_H_
