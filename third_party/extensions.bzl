"""The repositories of MODULE.bazel that are not modules. Bazel 4 does not load this file."""

load("//third_party:debian.bzl", "shared_libraries", system = "system_repositories")

def _system_repositories_impl(_):
    system()

    # Modules are built from source, and can be part of a shared library.
    shared_libraries(name = "shared_libraries")

system_repositories = module_extension(implementation = _system_repositories_impl)
