# What `cmake --install` installs, and how other projects find it.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/gotrace TYPE INCLUDE)
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC)
# In the folders that they have here, since they refer to each other.
file(GLOB_RECURSE documents RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
  docs/*.md docs/*.schema.json analysis/*.md export/*.md parser/*.md tracev2/*.md)
foreach(document ${documents})
  cmake_path(GET document PARENT_PATH folder)
  install(FILES "${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()
install(DIRECTORY examples/bazel examples/cmake examples/fetch-content examples/pkg-config
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" PATTERN "bazel-*" EXCLUDE PATTERN build EXCLUDE)

# Each library has a set of targets of its own: only the static ones make users find what gotrace itself needs.
foreach(library gotrace gotrace_sqlite)
  string(REPLACE _ - file ${library})
  foreach(kind static shared)
    install(TARGETS ${library}_${kind} EXPORT ${library}_${kind})
    install(EXPORT ${library}_${kind} NAMESPACE gotrace:: FILE ${file}-${kind}.cmake
      DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/gotrace")
  endforeach()
endforeach()
configure_package_config_file(cmake/gotraceConfig.cmake.in gotraceConfig.cmake
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/gotrace")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gotraceConfigVersion.cmake" COMPATIBILITY ${compatibility})
install(
  FILES "${PROJECT_BINARY_DIR}/gotraceConfig.cmake" "${PROJECT_BINARY_DIR}/gotraceConfigVersion.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/gotrace")

# The names of Abseil's .pc files: absl::status has absl_status.pc.
foreach(library public library sqlite)
  string(REPLACE "::" "_" pc_${library} "${${library}_abseil}")
  string(REPLACE ";" ", " pc_${library} "${pc_${library}}")
endforeach()
foreach(folder includedir libdir)
  string(TOUPPER ${folder} variable)
  set(pc_${folder} "${CMAKE_INSTALL_${variable}}")
  if(NOT IS_ABSOLUTE "${pc_${folder}}")
    set(pc_${folder} "\${prefix}/${pc_${folder}}")
  endif()
endforeach()
# They name the prefix, which `cmake --install --prefix` may change.
foreach(variable PROJECT_DESCRIPTION PROJECT_VERSION pc_includedir pc_libdir pc_public pc_library pc_sqlite)
  install(CODE "set(${variable} [[${${variable}}]])")
endforeach()
foreach(file gotrace.pc gotrace_sqlite.pc)
  install(CODE "configure_file([[${PROJECT_SOURCE_DIR}/cmake/${file}.in]] [[${PROJECT_BINARY_DIR}/${file}]] @ONLY)")
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

install(TARGETS gotrace_extension DESTINATION "${CMAKE_INSTALL_LIBDIR}/gotrace")

if(GOTRACE_TOOLS)
  install(TARGETS gotrace-dump)
  install(DIRECTORY "${cli_docs}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING PATTERN "*.1")
  install(FILES "${cli_docs}/completions/gotrace-dump.bash"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME gotrace-dump)
  install(FILES "${cli_docs}/completions/_gotrace-dump" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${cli_docs}/completions/gotrace-dump.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
