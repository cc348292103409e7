#!/usr/bin/env python3
"""Writes the version script of the shared library, which says what it exports: what the public headers declare.

usage: write_exports.py OUTPUT NODE NM ARCHIVE

NODE is the name of the version of the symbols. Exported are the functions, variables and types in the namespace
gotrace, but for gotrace::internal, for what is inline, and for the members of the classes Impl and State, which
headers only declare.
"""

import re
import subprocess
import sys

TYPE_INFORMATION = "(?:vtable|typeinfo|typeinfo name|VTT) for "
PUBLIC = re.compile(f"({TYPE_INFORMATION})?gotrace::(?!internal::)([^(]*)")
PRIVATE = re.compile("::(Impl|State)\\b|{lambda")


def main():
    output, node, nm, archive = sys.argv[1:]
    lines = subprocess.check_output([nm, "--extern-only", "--defined-only", archive], text=True).splitlines()
    # "0000000000000000 T _ZN7gotrace..."
    symbols = sorted({tuple(line.split()[1:]) for line in lines if len(line.split()) == 3})
    names = subprocess.run(["c++filt"], input="\n".join(name for _, name in symbols), capture_output=True, text=True, check=True)
    exported = []
    for (kind, symbol), name in zip(symbols, names.stdout.splitlines()):
        match = PUBLIC.match(name)
        # Weak symbols are inline functions and templates, of which users have their own, or type information.
        if match and not PRIVATE.search(match.group(0)) and (kind in "TDBR" or match.group(1)):
            exported.append(symbol)
    with open(output, "w") as out:
        out.write(f"{node} {{\nglobal:\n")
        out.writelines(f"  {symbol};\n" for symbol in exported)
        out.write("local:\n  *;\n};\n")


if __name__ == "__main__":
    main()
