"""What amd-resources and nvidia-resources share: kernels' resources as the compiler reports them, as tables."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLCHAINS = pathlib.Path(os.environ.get("TWILL_TOOLCHAINS") or ROOT / "build/toolchains")
LADDER = "src/ladder/gpu/transpose_rungs.cpp"
OF_LADDER = r"<u32, 32, 8\b"
INCLUDES = ["-Iinclude", "-I.", "-Isrc", "-Ibackends/gpu"]


def run(command):
    """Runs in the root of the sources, through ccache where it is installed; returns stderr, or raises with it."""
    if shutil.which("ccache"):
        command = ["ccache", *command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"failed: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stderr


def short_name(name):
    """'void twill::hip::kernels::copy<unsigned int, 32, 8>(...)' as 'copy<u32, 32, 8>'."""
    name = re.sub(r"\((?!anonymous).*", "", name).split("kernels::", 1)[-1].removeprefix("void ")
    for cpp, short in [("unsigned char", "u8"), ("unsigned short", "u16"), ("unsigned long", "u64"),
                       ("unsigned int", "u32"), ("(anonymous namespace)::", "")]:
        name = name.replace(cpp, short)
    return re.sub(r"HIP_vector_type<u32, 4u?>|uint4", "word16", name)


def short_names(mangled):
    plain = subprocess.run(["c++filt", *mangled], capture_output=True, text=True, check=True).stdout.splitlines()
    return {symbol: short_name(name) for symbol, name in zip(mangled, plain)}


def rung(kernel):
    """The rung of the ladder that a kernel is: most have its name, three share `tiled` with other arguments."""
    name, _, arguments = kernel.partition("<")
    tiled = {"0, false>": "coalesced", "1, false>": "conflict-free", "1, true>": "diagonal"}
    return tiled.get(", ".join(arguments.split(", ")[-2:])) if name == "tiled" else name.replace("_", "-")


def table(heads, rows):
    """A Markdown table; the first two columns are text."""
    lines = [heads, ["---"] * 2 + ["---:"] * (len(heads) - 2), *([f"`{row[0]}`", *row[1:]] for row in rows)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def leaves_registers(kernel):
    return any(kernel.get(column) for column in ["spills", "VGPR spills", "SGPR spills", "scratch bytes"])


def page(architecture, kernels, columns, match):
    heads = ["kernel", "rung", *columns]
    shown = [[kernel[head] for head in heads] for kernel in kernels if re.search(match, kernel["kernel"])]
    bad = sum(map(leaves_registers, kernels)) or "none"
    summary = f"Of {len(kernels)} kernels in all, {bad} spill registers or use scratch memory."
    return f"### {architecture}\n\n{table(heads, shown)}\n\n{summary}\n"


def text_of(report):
    """JSON with a line a kernel."""
    lists = []
    for name, kernels in report["architectures"].items():
        lines = ",\n".join("   " + json.dumps(kernel) for kernel in kernels)
        lists.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
    head = json.dumps({name: value for name, value in report.items() if name != "architectures"}, indent=1)[:-2]
    return head + ',\n "architectures": {\n' + ",\n".join(lists) + "\n }\n}\n"


def arguments(doc, architectures, add_options):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("architectures", nargs="*", metavar="ARCH", help="default: " + " ".join(architectures))
    parser.add_argument("--source", nargs="+", action="extend", metavar="FILE", help=f"default: {LADDER}")
    parser.add_argument("--library", action="store_true", help="all sources of kernels of src/move, reduce and scan")
    parser.add_argument("--match", metavar="REGEX",
                        help=f"kernels shown in the tables and in JSON; all are checked (default: all, of {LADDER} "
                        f"those that match {OF_LADDER})")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables there instead of stdout")
    parser.add_argument("--json", metavar="FILE", help="write the shown kernels' figures there")
    add_options(parser)
    options = parser.parse_args()
    options.architectures = options.architectures or architectures
    if options.library:
        options.source = [str(path.relative_to(ROOT)) for folder in ["move", "reduce", "scan"]
                          for path in sorted((ROOT / "src" / folder / "gpu").glob("*.cpp"))]
    if options.match is None:
        options.match = "." if options.source else OF_LADDER
    options.source = options.source or [LADDER]
    return options


def main(doc, architectures, columns, measure, add_options=lambda parser: None, faults=lambda kernel, options: (),
         complete=lambda architecture, kernels, options: None):
    """measure(architecture, source) gives a list of dicts with `kernel`, `spills` and a value for each column.
    faults(kernel, options) gives what else is wrong with one of them, as text; complete() adds what is known later."""
    options = arguments(doc, architectures, add_options)
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            pairs = [(name, source) for name in options.architectures for source in options.source]
            measured = list(pool.map(lambda pair: measure(*pair), pairs))
    except (RuntimeError, OSError) as problem:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {problem}")
    found = {name: [] for name in options.architectures}
    for (name, source), kernels in zip(pairs, measured):
        for kernel in kernels:
            kernel["rung"] = rung(kernel["kernel"])
        found[name] += kernels
    for name, kernels in found.items():
        complete(name, kernels, options)
    text = "\n".join(page(name, kernels, columns, options.match) for name, kernels in found.items())
    if options.json:
        shown = {name: [kernel for kernel in kernels if re.search(options.match, kernel["kernel"])]
                 for name, kernels in found.items()}
        report = {"schema": 1, "source": options.source, "architectures": shown}
        pathlib.Path(options.json).write_text(text_of(report))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    else:
        print(text)
    bad = [f"{name}: {kernel['kernel']} spills registers or uses scratch memory"
           for name, kernels in found.items() for kernel in kernels if leaves_registers(kernel)]
    bad += [f"{name}: {kernel['kernel']} {fault}"
            for name, kernels in found.items() for kernel in kernels for fault in faults(kernel, options)]
    bad += [f"{name}: no kernel in {' '.join(options.source)}" for name in found if not found[name]]
    if bad:
        sys.exit("\n".join(bad))
