# Results of several files. A part of tool_test.sh.
# shellcheck shell=bash

compare() {
  run 0 bench --device cpu --size 65x33 --reps 3 --kernel memcpy,cpu-naive,cpu-tuned --json cpu.json
  run 0 bench --device simt --size 130x67 --warm --reps 3 --json simt.json
  run 0 compare cpu.json simt.json --json both.json
  shown '^A '
  shown '^cpu-naive '
  narrow
  cat >slower.py <<'END'
import json, sys
d = json.load(open("cpu.json"))
for r in d["results"]:
    scale = {"cpu-naive": 2.0, "cpu-tuned": 1.001}.get(r["kernel"], 1.0)
    r["gbps"] /= scale
    for k in r["ms"]:
        r["ms"][k] = r["ms"]["median"] * scale * {"median": 1, "p25": 0.99, "p75": 1.01}[k]
json.dump(d, open("slower.json", "w"))
END
  python3 slower.py
  cp slower.json same.json
  run 0 compare slower.json same.json
  shown '1.00~$'
  run 0 compare cpu.json slower.json
  shown '^cpu-naive .* 0.5'
  shown 'spread %'
  shown '^B/A: geometric mean'
  narrow
  # Only what has something to compare has a letter.
  run 0 bench --device simt,cpu --size 65x33 --reps 3 --kernel cpu-naive,tuned --json mixed.json
  run 0 compare mixed.json cpu.json
  shown '^A cpu, '
  shown '^B cpu, '
  shown '^- simt, .*: valid, no bandwidth$'
  refused 'required' compare
  refused 'No such file' compare nowhere.json
  echo '{"schema": 1, "results": [{"op": 3}]}' >bad.json
  refused 'results\[0\].op: .*must be string' compare cpu.json bad.json
  echo '{"schema": 1, "results": [{"op": "copy"}]}' >bad.json
  refused 'results\[0\].device is missing' compare bad.json
  echo '{"schema": 1, "results": []}' >bad.json
  refused 'no results' compare bad.json
  refused 'it is a folder' compare .
  echo '{"schema": 99, "results": []}' >bad.json
  refused 'schema 99' compare bad.json
  head -c 100 cpu.json >bad.json
  refused 'parse error' compare bad.json
  ! grep -q 'json.exception' err || report compare "a library's exception in its message"
  echo '{"schema": 1, "devices": [{"name": 5}, {"name": "cpu", "model": 7}], "results": [' >bad.json
  sed -n '/"results"/,$p' cpu.json | tail -n +2 >>bad.json
  run 0 compare bad.json
  shown '^A .*[?]'
  sed 's/"rows": 65/"rows": 1e300/' cpu.json >bad.json
  refused 'results\[0\].rows: it must be an integer' compare bad.json
}

compare
