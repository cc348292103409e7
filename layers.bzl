"""Which layer of the library may use which."""

# In order: a layer may use those before it, and all may use the public headers in include/. See CONTRIBUTING.md for what each holds.
_LAYERS = [
    "util",
    "tracev2",
    "parser/event",
    "parser/source",
    "parser/framing",
    "parser/transport",
    "parser/generation",
    "parser/order",
    "parser/reader",
    "validator",
    "analysis",
    "analysis/tables",
    "export",
    "export/text",
    "export/json",
    "export/chrome",
    "export/fxt",
    "export/trace2",
    "export/report",
    "export/perfetto",
    "export/pprof",
    "export/table",
    "export/rows",
    "export/parquet",
    "export/sqlite",
    "export/summary",
    "rewrite",
    "view",
    "tools",
]

# What tests and measures the library may use every layer, and so may the target for users.
_EVERYWHERE = [
    "//:__pkg__",
    "//bench:__pkg__",
    "//fuzz:__pkg__",
    "//testing:__pkg__",
]

def visible_below(layer):
    """The visibility of a layer: the layers after it."""
    after = _LAYERS[_LAYERS.index(layer) + 1:]
    return ["//%s:__pkg__" % name for name in after] + _EVERYWHERE

def cc_files_of_library():
    """The files of C++ of each layer but the program."""
    return ["//%s:cc_files" % layer for layer in _LAYERS if layer != "tools"]
