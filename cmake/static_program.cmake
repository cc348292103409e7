# gotrace-dump in one file that needs no shared library: `cmake --build BUILD --target gotrace-dump-static`. There is
# no such target if a static library is missing.
set(needed_archives zstd z sqlite3 edit tinfo bsd md)
set(archives "")
foreach(name ${needed_archives})
  find_library(${name}_ARCHIVE lib${name}.a)
  mark_as_advanced(${name}_ARCHIVE)
  list(APPEND archives "${${name}_ARCHIVE}")
endforeach()
cmake_path(GET zstd_ARCHIVE PARENT_PATH folder)
file(GLOB absl_archives "${folder}/libabsl_*.a")

if(absl_archives AND NOT archives MATCHES NOTFOUND)
  add_executable(gotrace-dump-static EXCLUDE_FROM_ALL ${program_sources})
  target_compile_features(gotrace-dump-static PRIVATE cxx_std_20)
  target_include_directories(gotrace-dump-static PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(gotrace-dump-static gotrace_tools gotrace_sqlite_static gotrace_static)
  target_link_options(gotrace-dump-static PRIVATE -static)
  # Files rather than targets, since those of Abseil and zstd bring their shared libraries.
  target_link_libraries(gotrace-dump-static PRIVATE
    $<TARGET_FILE:gotrace_tools> $<TARGET_FILE:gotrace_sqlite_static> $<TARGET_FILE:gotrace_static>
    -Wl,--start-group ${absl_archives} -Wl,--end-group ${archives} m)
endif()
