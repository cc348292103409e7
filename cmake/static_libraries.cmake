# Makes gotrace link the static libraries of Debian's packages, for GOTRACE_STATIC_PROGRAM. Included before anything
# looks for libraries.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

# The targets of Abseil and zstd name the shared libraries. The static ones are next to them.
find_package(absl REQUIRED)
find_package(zstd REQUIRED)
get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    foreach(config ${CMAKE_BUILD_TYPE} NONE)
      string(TOUPPER ${config} config)
      get_target_property(shared ${target} IMPORTED_LOCATION_${config})
      if(shared)
        string(REGEX REPLACE "\\.so[.0-9]*$" ".a" static "${shared}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${config} "${static}")
      endif()
    endforeach()
  endif()
endforeach()

# What libedit and SQLite need: a shared library brings it along.
foreach(library tinfo bsd md)
  find_library(${library}_LIBRARY ${library} REQUIRED)
  list(APPEND needed_by_static ${${library}_LIBRARY})
endforeach()
list(APPEND needed_by_static m)
