// Judges JSON by a JSON Schema. For tests.
#ifndef GOTRACE_TESTING_JSON_SCHEMA_H_
#define GOTRACE_TESTING_JSON_SCHEMA_H_

#include <string>

#include "testing/json_value.h"

namespace gotrace::internal {

// Returns "" if `schema` allows `value`, and else what it does not allow and where: "/findings/0:
// lacks \"id\"". Knows the keywords type, enum, minimum, pattern, required, properties,
// additionalProperties, maxProperties, items, anyOf, and $ref into the schema's own $defs; any
// other one that demands something is an error, so that none is passed over.
std::string CheckAgainstSchema(const JsonValue& schema, const JsonValue& value);

// The schema that the file at `path` holds. A test that has no such file fails, and gets null.
JsonValue ReadSchema(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_SCHEMA_H_
