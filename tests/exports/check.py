#!/usr/bin/env python3
"""check.py LIBRARY --headers HEADER... [--also REGEX] [--soname NAME] [--no-path FOLDER...]

Fails on a symbol of the library that its users see and that no header marks TWILL_API (or --also allows), on a marked one
that the library lacks, on another soname, and on FOLDER written anywhere in the file. A static library's symbols are seen
when they are global and of default visibility: as a shared library would export them. In a static library it also fails on
a hidden function right in namespace twill: one that a header declares and forgot to mark.
"""
import argparse
import pathlib
import re
import subprocess
import sys


def declared(headers):
    """Qualified names of the functions and of the classes that the headers mark."""
    functions, classes = set(), set()
    for header in headers:
        scope, depth = [], 0
        for line in re.sub(r"//[^\n]*", "", header.read_text()).splitlines():
            if opened := re.match(r"namespace ([\w:]+) \{", line):
                scope.append(opened[1])
            elif marked := re.match(r"(?:class|struct) TWILL_API (\w+)", line):
                classes.add("::".join([*scope, marked[1]]))
            elif marked := re.match(r"(?:\[\[\w+\]\] )?TWILL_API [^(]*?(\w+)\(", line):
                functions.add("::".join([*scope, marked[1]]))
            elif "TWILL_API" in line and not line.startswith("#"):
                sys.exit(f"{header}: no name found in: {line}")
            depth += line.count("{") - line.count("}")
            del scope[depth:]
    return functions, classes


def seen(library):
    """Demangled names of the symbols that users of the library see."""
    if library.suffix != ".a":
        text = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        return {line.split(" ", 2)[2] for line in text.splitlines()}
    text = subprocess.run(["readelf", "-sWC", library], capture_output=True, text=True, check=True).stdout
    symbol = re.compile(r" *\d+: \w+ +\w+ (?:FUNC|OBJECT|TLS) +(GLOBAL|WEAK|UNIQUE) +DEFAULT +(?!UND)\w+ (.+)")
    found = (symbol.match(line) for line in text.splitlines())
    # Weak ones of the standard library are dropped from a shared one (cmake/exports.map).
    return {match[2] for match in found if match and (match[1] == "GLOBAL" or re.match(r"(\w+ (\w+ )?for )?twill::", match[2]))}


def hidden(library):
    """Functions right in namespace twill that users of a shared library would not see."""
    text = subprocess.run(["readelf", "-sWC", library], capture_output=True, text=True, check=True).stdout
    symbol = re.compile(r" *\d+: \w+ +\w+ FUNC +(?:GLOBAL|WEAK) +HIDDEN +(?!UND)\w+ (twill::[a-z_0-9]+\(.*)")
    return sorted({match[1] for match in map(symbol.match, text.splitlines()) if match})


def breaches(names, functions, classes, also):
    here = set()
    for name in sorted(names):
        bare = re.sub(r"^(typeinfo|typeinfo name|vtable|VTT) for ", "", name)
        qualified = re.split(r"[(\[]", bare)[0]
        here.add(qualified)
        of_class = any(qualified == one or qualified.startswith(one + "::") for one in classes)
        if not (qualified in functions or of_class or (also and re.fullmatch(also, qualified))):
            yield f"no header marks {name}"
    for name in sorted(functions - here):
        yield f"{name} is marked in a header, and not in the library"


def is_path_in(content, folder):
    """Whether an absolute path at or below `folder` is in the bytes: /twill is none of include/twill."""
    return re.search(rb"(?<![\w./-])" + re.escape(folder.encode()) + rb"(?![\w.-])", content) is not None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--headers", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--also")
    parser.add_argument("--soname")
    parser.add_argument("--no-path", nargs="*", default=[])
    options = parser.parse_args()
    names = seen(options.library)
    functions, classes = declared(options.headers)
    found = list(breaches(names, functions, classes, options.also))
    if options.library.suffix == ".a":
        found += [f"{name} is hidden: mark it TWILL_API where it is declared" for name in hidden(options.library)]
    if options.soname:
        text = subprocess.run(["readelf", "-d", options.library], capture_output=True, text=True, check=True).stdout
        if f"[{options.soname}]" not in text:
            found.append(f"its soname is not {options.soname}")
    content = options.library.read_bytes()
    found += [f"{folder} is written in it" for folder in options.no_path if is_path_in(content, folder)]
    for breach in found:
        print(f"{options.library.name}: {breach}")
    print(f"{options.library.name}: {len(names)} symbols are seen, {len(functions)} functions and {len(classes)} classes marked")
    sys.exit(1 if found or not functions else 0)


main()
