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

# variant FILE CHANGE FROM: FILE is FROM after the Python statement CHANGE, with d the document and rows its results.
variant() {
  checks=$((checks + 1))
  python3 - "$@" 2>err <<'END' || report "(variant)" "no $1"
import json, sys
d = json.load(open(sys.argv[3]))
rows = d.get("results")
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))
END
}

# Rows that differ in their part alone, matrices of a batch, and the same row twice are all shown.
all_rows() {
  local file=$root/tests/results/h200-2-global-transpose-pencils.json rows
  run 0 compare "$file"
  shown 'f32, slab on 2, loop'
  shown 'f32, 1x2 on 2, loop'
  shown 'partial)'
  shown '^- valid, no bandwidth'
  [ "$(grep -c '^\(memcpy\|exchange-direct\|exchange-copy\|direct\|copy\) ' out)" -eq 10 ] || report compare "not 10 rows"
  for file in h200-2-global-transpose-cubes h200-transpose-grid; do
    file=$root/tests/results/$file.json
    run 0 compare "$file"
    rows=$(grep -o '"kernel":' "$file" | wc -l)
    [ "$(grep -c '^[a-z-]*  *[0-9][0-9.]*  ' out)" -eq "$rows" ] || report compare "not $rows rows of $file"
  done
  shown '^transpose 4194304x8x8 u8, batched, '
  variant twice.json 'rows += rows' cpu.json
  run 0 compare twice.json
  shown '^cpu-naive (2) '
}

# Each device beside the first of its kind, each pair with a mean; cold beside cold.
pairs() {
  variant gpu.json 'for r in rows: r["device"] = "gpu:0"' cpu.json
  variant gpu2.json 'for r in rows: r["device"] = "gpu:1"
rows += [dict(r, rows=7) for r in rows]' cpu.json
  variant gpu3.json 'for r in rows: r["device"] = "gpu:2"' gpu2.json
  run 0 compare gpu.json cpu.json gpu2.json slower.json gpu3.json
  shown '^Letters follow the files, CPUs last'
  for pair in B/A C/A C/B D/A E/D; do
    shown "  $pair\$"
    shown "^$pair: geometric mean"
  done
  shown '^B/A: geometric mean 1.000 of 3 rows'
  shown '^C/B: geometric mean 1.000 of 3 rows'
  narrow
  run 0 compare gpu.json cpu.json slower.json gpu2.json --reference cpu
  for pair in A/C B/C D/C; do shown "^$pair: geometric mean"; done
  run 0 compare gpu.json cpu.json slower.json --reference C
  shown '^A/C: geometric mean'
  refused 'there are: A gpu:0, B cpu' compare gpu.json cpu.json --reference C
  variant warm.json 'd["cache"] = "warm"; d["partial"] = True' cpu.json
  run 0 compare cpu.json warm.json
  shown '^A cpu, .*cold cache)'
  shown 'warm cache, partial)'
  shown '^Cold and warm caches are not compared'
  ! grep -q 'B/A' out || report compare "a ratio of warm to cold caches"
}

# What --json writes is read again, as the files that it was made of.
merged() {
  run 0 compare cpu.json slower.json --json both.json
  cp out first
  run 0 compare both.json --json again.json
  cmp -s out first || report "compare both.json" "other text than of its files"
  cmp -s both.json again.json || report "compare both.json" "other files than in it"
  refused 'it holds 2 files' bench --device cpu --size 8 --compare both.json
  variant bad.json 'd["files"][1]["results"] = 3' both.json
  refused 'no results' compare bad.json
  variant bad.json 'd["files"] = [3]' both.json
  refused 'one object' compare bad.json
}

# A row that is wrong is an exit code, too.
wrong_rows() {
  variant wrong.json 'rows[1].update(valid=False, status="wrong", gbps=None)' cpu.json
  run 1 compare cpu.json wrong.json
  shown ' WRONG'
  grep -q '1 of 6 results wrong, 0 failed' err || report compare "silent about a wrong row"
  run 0 compare --help
  shown 'Exit code: 0 done, 1 a file has a row that is wrong'
}

# bench --compare pairs rows of the same problem, device kind and caches.
beside() {
  run 0 bench --device cpu --size 65x33,8 --reps 3 --compare cpu.json
  shown '^cpu-naive  *f32  *65x33  *over '
  shown '^3 rows: median error'
  grep -q 'Left out: 3' out || report bench "silent about rows that the file does not have"
  run 0 bench --device cpu --size 5x65x33 --reps 3 --compare cpu.json
  shown '^No row of it'
  run 0 bench --device cpu --size 65x33 --warm --reps 3 --compare cpu.json
  shown '^Nothing is compared: its caches are cold, these are warm'
  run 0 bench permute --device cpu --size 12x30x20 --order 1,0,2 --reps 3 --json order.json
  run 0 bench permute --device cpu --size 12x30x20 --order 1,2,0 --reps 3 --compare order.json
  shown '^No row of it'
  run 0 bench permute --device cpu --size 12x30x20 --order 1,0,2 --reps 3 --compare order.json
  shown '^cpu-tuned .* 12x30x20 to 1,0,2 '
}

compare
all_rows
pairs
merged
wrong_rows
beside
