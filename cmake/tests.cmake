# The tests, and the programs that they run: those of the BUILD files.
find_package(benchmark REQUIRED)
find_package(GTest REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json REQUIRED)

add_library(gotrace_testing STATIC ${testing_sources})
target_link_libraries(gotrace_testing PUBLIC
  gotrace_tools absl::flags_parse absl::flags_usage benchmark::benchmark GTest::gmock GTest::gtest OpenSSL::Crypto
  nlohmann_json::nlohmann_json)

# Tests run here, where programs are next to the sources, as with Bazel.
set(runfiles "${PROJECT_BINARY_DIR}/runfiles")

add_custom_target(examples)

# Adds a program that is built into the folder of its sources. Its target has the name of its path.
function(gotrace_test_program path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MAIN" "" "SOURCES;OPTIONS;DEFINITIONS")
  string(REPLACE "/" "." target "${path}")
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(GET path FILENAME name)
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${runfiles}/${folder}")
  # It takes most of the time to compile tests, and little to run them.
  target_compile_options(${target} PRIVATE ${arg_OPTIONS} $<$<CONFIG:Release>:-O0>)
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${target} PRIVATE gotrace_testing $<$<BOOL:${arg_MAIN}>:GTest::gtest_main>)
  if(folder STREQUAL examples)
    add_dependencies(examples ${target})
  endif()
  set(target ${target} PARENT_SCOPE)
endfunction()

function(gotrace_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;LABELS;ENVIRONMENT")
  set(tmpdir "${PROJECT_BINARY_DIR}/test_tmp/${name}")
  file(MAKE_DIRECTORY "${tmpdir}")
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${runfiles}")
  set_tests_properties(${name} PROPERTIES
    LABELS "${arg_LABELS}"
    TIMEOUT 1800
    ENVIRONMENT "TEST_TMPDIR=${tmpdir};TEST_SRCDIR=${PROJECT_BINARY_DIR};TEST_WORKSPACE=runfiles;${arg_ENVIRONMENT}")
endfunction()

# Adds a test, as several ones if it has shards, so that they can run at the same time.
function(gotrace_add_shards path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "COMMAND;LABELS")
  if(NOT arg_SHARDS)
    gotrace_add_test(${path} COMMAND ${arg_COMMAND} LABELS ${arg_LABELS})
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    # As Bazel does, for programs and for scripts.
    gotrace_add_test(${path}_${shard} COMMAND ${arg_COMMAND} LABELS ${arg_LABELS}
      ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index}
        TEST_TOTAL_SHARDS=${arg_SHARDS} TEST_SHARD_INDEX=${index})
  endforeach()
endfunction()

# Adds a program that is a test. Other arguments are those of gotrace_test_program(), and come first.
function(gotrace_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "LABELS")
  gotrace_test_program(${path} ${arg_UNPARSED_ARGUMENTS})
  gotrace_add_shards(${path} COMMAND ${target} LABELS ${arg_LABELS} SHARDS ${arg_SHARDS})
endfunction()

function(gotrace_script_test path script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SHARDS" "ARGS;LABELS")
  gotrace_add_shards(${path} COMMAND bash ${script} ${arg_ARGS} LABELS ${arg_LABELS} SHARDS ${arg_SHARDS})
endfunction()

function(gotrace_fuzzer path)
  if(GOTRACE_FUZZERS)
    gotrace_test_program(${path} ${ARGN})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

include("${PROJECT_BINARY_DIR}/programs.cmake")
