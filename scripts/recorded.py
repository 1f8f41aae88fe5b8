"""Runs that scripts/measure wrote on a GPU, packed into a file, and figures of their rows."""
import json
import lzma
import math
import pathlib
import re
import sys
from collections import Counter, defaultdict

RECORDED = pathlib.Path(__file__).resolve().parent.parent / "tests/results/h200-837c603.jsonl.xz"  # of docs/measured.md
BYTES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u32": 4, "f32": 4, "u64": 8, "f64": 8, "u128": 16, "c128": 16}
SHAPE = ("type", "rows", "cols", "batch", "gap", "extents", "order", "in_strides", "out_strides", "part", "loop")
KEPT = ("op", "device", "kernel", *SHAPE, "reps", "of_roof", "gbps", "plan", "expected_us")


def packed_row(name, row):
    if not row["valid"]:
        raise SystemExit(f"measured: run {name} has a wrong result: {row}")
    kept = {key: row[key] for key in KEPT if row.get(key) is not None}
    return {**kept, "us": [round(1000 * row["ms"][which], 3) for which in ("p25", "median", "p75")]}


def portable(command):
    """Without the paths of the machine."""
    return re.sub(r"\S*/(tests/bench/)", r"\1", re.sub(r" --json \S+", "", command))


def read_folder(folder):
    """{name: (header, rows)} of the JSON files; planning-SEED.json hold times of the planner."""
    runs = {}
    for path in sorted(folder.glob("*.json")):
        document, name = json.loads(path.read_text()), path.stem
        if document.get("partial"):
            print(f"measured: {path} was interrupted, left out", file=sys.stderr)
            continue
        if name.startswith("planning-"):
            runs[name] = {"run": name}, [{"planning_us": each["planning_us"]} for each in document["results"]]
            continue
        about = document["run"]
        header = {"run": name, "model": document["device"]["model"]}
        header.update(commit=about["commit"], date=about["date"], command=portable(about["command"]))
        runs[name] = header, [packed_row(name, row) for row in document["results"]]
    return runs


def read_pack(path):
    runs = {}
    with lzma.open(path, "rt") as file:
        for line in file:
            row = json.loads(line)
            if "run" in row:
                if row["run"] in runs:
                    raise SystemExit(f"measured: {path} has two runs {row['run']}")
                runs[row["run"]] = row, []
            else:
                runs[next(reversed(runs))][1].append(row)
    return runs


def write_pack(path, runs):
    with lzma.open(path, "wt", preset=9) as file:
        for header, rows in runs.values():
            for line in (header, *rows):
                file.write(json.dumps(line) + "\n")


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def us(row):
    return row["us"][1]


def shape_text(row):
    size = row.get("extents") or [row["rows"], row["cols"]]
    text = row["type"] + " " + "x".join(map(str, size)) + (f"+{row['gap']}" if row.get("gap") else "")
    for before, key in ((" to ", "order"), (", in strides ", "in_strides"), (", out strides ", "out_strides")):
        text += before + ",".join(map(str, row[key])) if row.get(key) else ""
    return text


def cases(runs, *names):
    """The rows of each case, {kernel: row}, of these runs; a case that a list has twice counts twice."""
    found, times = defaultdict(dict), Counter()
    for name in names:
        for row in runs[name][1]:
            key = name, json.dumps([row.get(each) for each in ("device", *SHAPE)])
            times[key, row["kernel"]] += 1
            found[key, times[key, row["kernel"]]][row["kernel"]] = row
    return list(found.values())


def one_setting(runs):
    """Ends the script where runs are of different commits or GPUs."""
    for key in ("commit", "model"):
        values = {header[key] for name, (header, _) in runs.items() if key in header and not name.startswith("cpu-")}
        if len(values) > 1:
            raise SystemExit(f"measured: runs of more than one {key}: {', '.join(sorted(values))}")
