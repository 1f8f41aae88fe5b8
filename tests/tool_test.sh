#!/usr/bin/env bash
# Runs the command `twill` (its path is $1) on good and bad input: exit codes, one-line messages, files whole or absent.
set -u
twill=$(realpath "$1")
root=$(dirname "$(dirname "$(realpath "$0")")")
sheets=$root/presets/devices
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0
failures=0

report() {
  failures=$((failures + 1))
  printf 'FAILED: twill %s: %s\n' "$1" "$2"
  sed 's/^/  | /' out err
}

# run CODE ARGUMENTS...: the exit code is CODE.
run() {
  local expected=$1 code=0
  shift
  checks=$((checks + 1))
  "$twill" "$@" >out 2>err </dev/null || code=$?
  [ "$code" -eq "$expected" ] || report "$*" "exit code $code, not $expected"
}

# stopped CODE PATTERN ARGUMENTS...: nothing on stdout, and one line "twill: ..." on stderr with PATTERN in it.
stopped() {
  local code=$1 pattern=$2
  shift 2
  run "$code" "$@"
  [ ! -s out ] || report "$*" "it wrote to stdout"
  [ "$(wc -l <err)" -eq 1 ] || report "$*" "not one line on stderr"
  grep -q '^twill: .* (.*) .*' err || report "$*" "not PROBLEM (WHY) SUGGESTION"
  grep -q -- "$pattern" err || report "$*" "no \"$pattern\" in its message"
}

# refused PATTERN ARGUMENTS...: bad usage. unable PATTERN ARGUMENTS...: no such device, or not enough memory.
refused() { stopped 2 "$@"; }
unable() { stopped 3 "$@"; }

# follows FILE SCHEMA: the file is what the schema of that name says.
follows() {
  checks=$((checks + 1))
  python3 "$root/tests/support/follows_schema.py" "$1" "$root/presets/schemas/$2.json" >err 2>&1 || report "(schema)" "$1 is no $2 file"
}

# shown PATTERN: the last command wrote PATTERN to stdout.
shown() {
  grep -q -- "$1" out || report "(last)" "no \"$1\" on stdout"
}

# drawn PATTERN: the picture heat.svg has PATTERN in it.
drawn() {
  grep -q -- "$1" heat.svg || report "(svg)" "no \"$1\" in the picture"
}

# narrow: no line of stdout is wider than 80 columns.
narrow() {
  ! grep -q '.\{81\}' out || report "(last)" "a line is wider than 80 columns"
}

version_and_help() {
  run 0 --version
  shown '^twill [0-9]*\.[0-9]*\.[0-9]*$'
  for command in "" devices bench compare explain profile; do
    run 0 $command --help
    shown '--json\|devices'
    narrow
  done
}

devices() {
  run 0 devices --json devices.json
  shown '^cpu '
  shown '^simt '
  narrow
  grep -q '"name": "cpu"' devices.json || report devices "no cpu in its JSON"
  follows devices.json devices
}

bench() {
  run 0 bench transpose --device cpu --size 65x33 --reps 3 --kernel memcpy,cpu-naive,cpu-tuned --json cpu.json \
    --csv cpu.csv
  shown '^cpu-naive '
  narrow
  [ "$(wc -l <cpu.csv)" -eq 4 ] || report bench "not three rows in its CSV"
  run 0 bench transpose --device simt --size 130x67 --warm --reps 3 --json simt.json
  shown 'not GPU times'
  narrow
  while read -r kernel; do
    grep -q "\"kernel\": \"$kernel\"" simt.json || report bench "no $kernel in its JSON"
  done < <(awk '$2 == "valid" || $3 == "valid" {print $1}' out)
  [ "$(grep -c '"valid": true' simt.json)" -ge 13 ] || report bench "fewer than 13 valid rungs"
  ! grep -q '"valid": false' simt.json || report bench "a rung is not valid"
  refused 'known: 32x8' bench --device simt --size 33 --type u8 --block 16x16 --kernel coalesced
  run 0 bench --device simt --size 33 --type u8,c128 --kernel coalesced
  run 0 bench --device simt --size 33 --type f32 --loop both --block 16x16 --kernel coalesced --json -
  shown '"loop": "in"'
  shown '"block": "16x16"'
  run 0 bench --device simt --size 40x70 --block 8x32 --warm
  shown '^Left out: '
  run 0 bench --device simt --size 1x1 --size 1x300 --size 300x1 --warm
  follows cpu.json bench
  follows simt.json bench
  grep -q '"command": ".*bench transpose --device cpu' cpu.json || report bench "no command line in its JSON"
}

# Memory is counted by what tiny problems take, not by their elements. AddressSanitizer reserves terabytes of address
# space, and limits what is used of it by an option of its own.
tiny() {
  local size limit="ulimit -v 4000000"
  ! grep -q __asan_init "$twill" || limit="export ASAN_OPTIONS=hard_rss_limit_mb=4000"
  for size in 2 3x1 1; do
    ($limit && "$twill" bench transpose --device cpu --size $size --type u8 --reps 2 >out 2>err </dev/null) ||
      report "bench --size $size" "not within 4 GB of memory"
    checks=$((checks + 1))
  done
}

# A rung that fails is a row; the others and the file are there. The sheet allows a block fewer threads than rungs take.
failing() {
  run 0 bench --device simt:k20 --size 70 --kernel tuned,coalesced,copy --json whole.json
  sed -e 's/"max_threads_per_block": *[0-9]*/"max_threads_per_block": 64/' "$root/presets/devices/k20.json" >tiny.json
  run 1 bench --device simt:tiny.json --size 70 --json failed.json
  shown '^tuned .* FAILED'
  shown '^FAILED: tuned 70x70 f32: '
  grep -q '"status": "failed"' failed.json || report bench "no failed row in its JSON"
  grep -q '"status": "ok"' failed.json || report bench "no other row in its JSON"
  follows failed.json bench
}

# One array over several ranks.
team() {
  run 0 bench global-transpose --device cpu --team 4 --size 96x60,12x16x20 --type f32,b3 --transport direct,copy --reps 2 \
    --json team.json --csv team.csv
  shown '^global transpose of 96x60 f32, slab on 4 ranks'
  shown '^exchange-copy '
  [ "$(wc -l <team.csv)" -eq 21 ] || report team "not 4 cases of 5 rows in its CSV"
  ! grep -q '"valid": false' team.json || report team "a row is not valid"
  follows team.json bench
  run 0 bench global-transpose --device simt --team 6 --size 24x18x12 --grid 2x3 --transport direct --reps 1 --json -
  grep -q '"plan": "2x3 on 6, direct"' out || report team "no plan in its JSON"
  refused 'pencils have three dimensions' bench global-transpose --device cpu --team 4 --size 64 --grid 2x2
  refused 'P \* Q ranks' bench global-transpose --device cpu --team 4 --size 8x8x8 --grid 2x3
  refused 'known: automatic' bench global-transpose --device cpu --team 2 --size 8 --transport pigeon
  refused 'belong to global-transpose' bench transpose --device cpu --team 2
}

random() {
  local op
  for op in transpose permute copy; do
    run 0 bench $op --random 12 --seed 5 --max-bytes 2^16 --device cpu --reps 3 --json $op-random.json
    shown "^$op: 12 random cases of seed 5, 512 bytes to 64 KiB"
    shown '^ *all  *12  *[0-9.]* '
    shown '^worst  case'
    narrow
    follows $op-random.json bench
    run 0 bench $op --random 6 --seed 6 --max-bytes 2^15 --device simt
    shown '6 cases checked'
  done
  cp permute-random.json first.json
  run 0 bench permute --random 12 --seed 5 --max-bytes 2^16 --device cpu --reps 3 --json again.json
  [ "$(grep -c '"below_0.7"' again.json)" -ge 2 ] || report bench "no distribution in its JSON"
  [ "$(grep '"order"' -A 5 first.json)" = "$(grep '"order"' -A 5 again.json)" ] || report bench "a seed draws other cases"
  for count in 0 -1 x; do refused 'random' bench permute "--random=$count" --device cpu; done
  for seed in x -3 1.5; do refused 'seed' bench permute --random 3 "--seed=$seed" --device cpu; done
  refused 'known: transpose, permute, copy' bench reduce --random 3
  refused 'room' bench permute --random 3 --max-bytes 100
  refused 'do not go together' bench permute --random 3 --size 4x4
  refused 'belongs to --random' bench --seed 3
}

is_sanitized() { "$twill" profile --device simt:h200 --size 8 --kernel copy 2>&1 | grep -q 'compiled for a sanitizer'; }

# What the planner would choose, and each of its candidates forced. No message is cut by a line's end.
planned() {
  run 0 explain permute --device simt:h200 --size 16x42x450x321 --order 2,3,1,0 --json explain.json
  shown '^\*  misaligned  *[0-9]'
  shown '^   gather  *[0-9.]*  [0-9]* segments of '
  narrow
  grep -q '"takes": "2 to 8 packed columns' explain.json || report explain "no families in its JSON"
  run 0 explain --device simt:h200 --size 4096,3000x3,100x257x289 --type f32,b12
  shown '^\*  tiled-2d '
  shown '^transpose 100x257x289 b12 on simt:h200'
  run 0 explain --device simt:h200 --size 4096x3
  shown '^   gather .* 1 segment of '
  run 0 explain --device simt:h200 --size 1x4096
  shown 'nothing to choose'
  run 0 bench --device simt --size 60x52 --warm --kernel gather,elementwise --json forced.json
  shown '^gather  *valid'
  shown '^elementwise  *valid'
  run 0 bench permute --device simt:h200 --random 4 --seed 2 --max-bytes 2^14 --regret --json regret.json
  follows regret.json bench
  grep -q '"expected_us": ' regret.json || report bench "no expected time in its JSON"
  if ! is_sanitized; then  # which has no times of simulated devices
    checks=$((checks + 1))
    python3 "$root/scripts/families" --explain explain.json regret.json >families.md 2>err || report families "it failed"
    grep -q '^| gather | anything' families.md || report families "no gather in its table"
  fi
  refused 'it takes 2 to 8 packed columns' bench --device simt --size 60x52 --kernel narrow
  refused 'it takes contiguous runs' bench permute --device simt --size 60x52x3 --kernel gather,rows
  refused 'no permute kernel "frob"' bench permute --device simt --size 60x52x3 --kernel frob
  refused 'belongs to --random' bench --device simt --size 60x52 --regret
  refused 'chooses from' bench copy --random 2 --regret
  refused 'leave it, or --kernel, out' bench --random 2 --regret --kernel gather
  refused 'known: transpose, permute' explain reduce
  refused 'no kernels to choose from' explain --device cpu
  refused 'order' explain permute --device simt --size 3x4 --order 0,0
  refused 'size' explain --device simt --size 0x
  refused 'order' explain --device simt --size 3x4 --order 1,0
  unable 'there are: ' explain --device simt:nix
}

sets() {
  run 0 bench --grid small,batched --max-bytes 2^14 --device cpu --reps 1 --json grid.json
  shown '^small: up to 1 MiB'
  shown '^64x64 '
  shown '^cpu-tuned on cpu: .* geometric mean '
  narrow
  follows grid.json bench
  run 0 bench --grid strided --max-bytes 4096 --device cpu,simt --reps 1 --json strided.json
  grep -q '"gap": 1' strided.json || report bench "no gap in its JSON"
  run 0 bench transpose-in-place --grid all --max-bytes 4096 --device cpu --reps 1
  shown '^least-scratch on cpu: '
  run 0 bench --sweep batched --max-bytes 512 --device cpu --reps 1 --warm --svg sweep.svg
  shown '^sweep-batched: '
  tail -1 sweep.svg | grep -q '</svg>' || report bench "no picture of a sweep"
  grep -q viewBox sweep.svg || report bench "a picture that does not scale"
  refused 'known: main, odd' bench --grid frobnicate
  refused 'is for transposes' bench permute --grid main
  refused 'nothing to measure' bench --sweep square --max-bytes 10 --device cpu
  refused 'belongs to --sweep' bench --device cpu --size 4 --svg x.svg
}

bench_moves() {
  run 0 bench permute --device cpu,simt --size 12x30x20 --order 1,0,2 --reps 3 --json permute.json --csv permute.csv
  shown '^cpu-tuned '
  shown '^tuned  *valid'
  narrow
  grep -q '"order": ' permute.json || report bench "no order in its JSON"
  ! grep -q '"valid": false' permute.json || report bench "a permutation is not valid"
  grep -q ',12x30x20,"1,0,2",' permute.csv || report bench "no extents and order in its CSV"
  run 0 compare permute.json
  shown '^permute 12x30x20 to 1,0,2 f32'
  printf '# cases\nu8 30x20x7 0,2,1\n\nc128 5x7x9x4\n' >list.txt
  run 0 bench permute --device cpu --list list.txt --reps 3
  shown '^u8 30x20x7 to 0,2,1 '
  shown '^cpu-tuned on cpu: 2 cases, geometric mean '
  run 0 bench copy --device cpu,simt --size 70 --size 40x30 --size 20x33x37 --type u8,f64 --warm --json copy.json
  run 0 bench reverse --device cpu,simt --size 1 --size 30001 --type u8,u16,f32,f64,c128 --warm --json reverse.json
  ! grep -q '"valid": false' copy.json reverse.json || report bench "a copy or reversal is not valid"
}

# Written bytes count once, those of the memcpy beside them twice; the roof is checked too.
fills() {
  run 0 bench fill --device cpu,simt --size 1 --size 30001 --type u8,u16,f32,b7,c128 --warm --reps 3 --json fill.json
  shown '% memset'
  shown '^memset  *valid'
  narrow
  follows fill.json bench
  ! grep -q '"valid": false' fill.json || report bench "a fill is not valid"
  [ "$(grep -c '"kernel": "\(cpu-\)\?tuned"' fill.json)" -eq 20 ] || report bench "not 20 fills in its JSON"
  cat >bytes.py <<'END'
import json
rows = [r for r in json.load(open("fill.json"))["results"] if r["device"] == "cpu" and r["cols"] == 30001 and r["gbps"]]
for r in rows:
    element = {"u8": 1, "u16": 2, "f32": 4, "b7": 7, "c128": 16}[r["type"]]
    moved = r["gbps"] * r["ms"]["median"] * 1e6 / (30001 * element)
    assert abs(moved - (2 if r["kernel"] == "memcpy" else 1)) < 1e-6, (r["kernel"], moved)
    assert r["roof"] == "memset" and r["of_memcpy"] is None, r
assert len(rows) == 15, len(rows)
END
  checks=$((checks + 1))
  python3 bytes.py >err 2>&1 || report "(fill)" "wrong bytes in its JSON"
  refused 'takes an array' bench fill --size 4x4
  refused 'too large' bench fill --size 2^62 --type b64
}

# Only a planner's choice can be regretted.
regret() {
  refused 'nothing to compare on cpu' bench permute --device cpu --random 3 --regret
  refused 'nothing to compare on cpu' bench permute --device simt:h200,cpu --random 3 --regret
  refused 'add what it belongs to' bench permute --device cpu --regret
}

bad_moves() {
  run 0 bench reduce --device cpu,simt --size 30001 --type f16,u8,c128 --warm --reps 3
  shown "Left out: the ladder's own rungs cannot sum u8"
  run 0 bench reduce-rows --device cpu,simt --size 70x3001 --type f32,i16 --warm --reps 3
  run 0 bench reduce-columns --device cpu,simt --size 3001x70 --type f64,bf16 --warm --reps 3
  run 0 bench scan --device cpu,simt --size 30001 --type u8,f16,i64,c64 --warm --reps 3
  run 0 bench reverse --device cpu,simt --size 30001 --type b3 --warm --reps 3
  run 0 bench sieve --device simt:gtx280 --size 4096
  shown '^shared '
  shown 'Left out: .*sieve cannot run on simt:gtx280'
  run 0 bench sieve --device cpu,simt --size 30001 --warm --reps 3
  shown 'sieve 30001 i32'
  refused 'i32' bench sieve --type f64
  refused 'no matrix' bench reduce-rows --size 4x4x4
  run 0 bench reduce-columns --device cpu --size 64 --reps 3
  shown 'reduce-columns 64x64 f32'
  refused 'only bytes' bench scan --type b3
  refused 'none of the 3' bench permute --size 2x3x4 --order 1,0,1
  refused 'none of the 3' bench permute --size 2x3x4 --order 1,0
  for order in 1,0, 1x0 a 1,-1; do refused 'order' bench permute --size 2x3 "--order=$order"; done
  refused 'at most 8' bench permute --size 2x2x2x2x2x2x2x2x2
  refused 'means nothing' bench --order 1,0
  refused 'No such file' bench permute --list nowhere.txt
  printf 'f32 4x4 1,0\nf31 4x4\n' >list.txt
  refused 'list.txt:2: .*f31' bench permute --list list.txt
  refused 'pitch' bench copy --size 4x4x3
  refused 'at most three' bench copy --size 4x4x4x4
  refused 'takes an array' bench reverse --size 4x4
}

batched_and_in_place() {
  run 0 bench transpose --device cpu --device simt --size 7x65x33 --type u8,b3 --reps 3 --json batched.json
  narrow
  grep -q '"batch": 7' batched.json || report bench "no batch in its JSON"
  ! grep -q '"valid": false' batched.json || report bench "a batch is not valid"
  run 0 bench transpose-in-place --device cpu --device simt --size 65x33,64,9x5x7 --type b3,f32 --reps 3 --json turned.json
  shown '^least-scratch '
  narrow
  ! grep -q '"valid": false' turned.json || report bench "a transpose in place is not valid"
  refused 'b65' bench --type b65
}

bad_bench() {
  refused 'no command'
  refused 'expected: frobnicate' frobnicate
  refused 'expected: --frobnicate' bench --frobnicate
  refused 'known: transpose' bench frobnicate
  unable 'cpu, ' bench --device frobnicate
  unable 'simt' bench --device simt:frobnicate
  refused 'cpu-naive' bench --device cpu --kernel frobnicate
  refused 'naive-row' bench --device simt --kernel frobnicate
  refused 'u8, u16' bench --type f31
  for size in 0x5 5x0 0 00x1; do refused 'no elements' bench --size $size; done
  for size in -4x4 4x 4xx4 x4 x 4y4 4.5x3 1e3 '' 99999999999999999999x2; do refused 'size' bench "--size=$size"; done
  for size in 3,,4 ,3 3,; do refused 'empty part' bench "--size=$size"; done
  refused 'two' bench --size 2x3x4x5
  refused 'too large' bench --size 9000000000000000000x9
  unable 'free' bench --device cpu --size 9000000x90000000
  unable 'free' bench --device simt --size 9000000x90000000
  for block in 0x8 8 8x 8x8x8 -8x8 ax8 99999999999x1; do refused 'block' bench "--block=$block"; done
  refused 'a block' bench --device simt --block 64x32
  refused 'known: .*32x8' bench --device simt --block 7x7
  refused 'no chosen kernel' bench --device cpu --block 32x8
  refused 'over, in, both' bench --loop around
  refused 'reps' bench --reps 0
  refused 'reps' bench --reps many
  refused 'opposite' bench --cold --warm
}

bad_files() {
  refused 'No such file' bench --device cpu --size 8 --json nowhere/out.json
  refused 'No such file' bench --device cpu --size 8 --csv nowhere/out.csv
  refused 'folder' bench --device cpu --size 8 --json .
  refused 'cannot write' devices --json nowhere/out.json
  refused 'same file' bench --device cpu --size 8 --json same --csv same
  unable 'frobnicate' bench --device frobnicate --json never.json
  [ ! -e never.json ] || report bench "it left a file after bad usage"
  echo precious >kept.json
  unable 'frobnicate' bench --device frobnicate --json kept.json
  [ "$(cat kept.json)" = precious ] || report bench "it changed a file after bad usage"
}

compare() {
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

profile() {
  refused 'simulated' profile
  refused 'simt:h200' profile --device cpu
  refused 'simt:mi250x' profile --device simt
  unable 'there are: simt' profile --device simt:frobnicate
  refused 'known: transpose' profile frobnicate --device simt:h200
  refused 'at least one block' profile --device simt:h200 --threads 0
  refused 'both write to standard output' profile --device simt:h200 --json - --svg -
  for kernel in memcpy cpu-tuned coalesced,memcpy; do
    refused 'known: .*tuned' profile --device simt:h200 --kernel $kernel
  done
  if is_sanitized; then
    return
  fi
  run 0 profile --device simt:h200 --kernel coalesced,tuned --size 256x64 --type u8,f32
  narrow
  shown 'transpose_rungs.hpp'
  shown ' tile\[threadIdx.x\]'
  shown 'shared load .* wavefronts .*32.00x ideal'
  run 0 profile --device simt:gtx280 --kernel copy --size 512 --threads 4096
  shown 'a sample of 16 '
  run 0 profile --device simt:gtx280 --kernel coalesced --size 128 --svg heat.svg
  drawn 'viewBox="0 0 '
  drawn "<title>twill $("$twill" --version | tail -1 | grep -o '[0-9.]*' | head -1) profile: transpose on simt:gtx280</title>"
  drawn 'bank 15: 16<'
  drawn '>16x</text>'
  drawn 'partitions [0-9]* to 7: '
  drawn '>src/ladder/gpu/transpose_rungs.hpp'
  drawn '^</svg>$'
  run 0 profile reduce --device simt:h200 --kernel sequential --size 4096 --svg heat.svg
  drawn 'sequential.*, grid 16x1x1 of 256x1x1 threads'
  drawn 'sequential.*, grid 1x1x1 of 256x1x1 threads'
  # Launches that look alike are drawn once, and the legend stands there once.
  run 0 profile --device simt:h200 --kernel conflict-free,unrolled --size 128,256 --svg heat.svg
  drawn '; banks as drawn above for transpose conflict-free, 128x128 f32'
  [ "$(grep -c 'unused: no access</text>' heat.svg)" -eq 1 ] || report "(svg)" "the legend is there more than once"
  # A program without its sources, or older than them, does not show their lines.
  mkdir -p tree/src/ladder/gpu
  cp "$twill" tree/twill
  tree/twill profile --device simt:h200 --kernel copy --size 64 >out
  shown 'transpose_rungs.hpp (not found here: its lines are left out)'
  echo 'another file' >tree/src/ladder/gpu/transpose_rungs.hpp
  touch -d 2000-01-01 tree/twill
  tree/twill profile --device simt:h200 --kernel copy --size 64 >out
  shown 'transpose_rungs.hpp (changed since this program was built: its lines are left out)'
  run 0 profile --device simt:h200,simt:mi300x --kernel copy --size 64
  shown '^simt:mi300x  *copy'
  shown 'simt:h200 were compared with an H200 SXM'
  shown 'simt:mi300x were never compared with a measurement'
  # A datasheet whose path has a comma, among other devices.
  mkdir 'a,b'
  cp "$sheets/k20.json" 'a,b/c,d.json'
  run 0 profile --device 'simt:h200,simt:a,b/c,d.json,simt:k20' --kernel copy --size 64
  shown '^simt:a,b/c,d.json  *copy'
  shown '^simt:k20  *copy'
  unable 'no simulated device "simt:frobnicate"' profile --device simt:frobnicate,simt:a,b/c,d.json
  run 0 profile --device simt:k20 --kernel unrolled --size 40x70 --check
  shown 'Checked: 0 of 1 kernels'
  run 0 profile scan --device simt:gtx280 --size 4096
  shown '^work-efficient '
  shown 'Left out: .*scan cannot run on simt:gtx280'
  refused 'sieve cannot run' profile sieve --device simt:gtx280 --size 4096 --kernel tuned
  run 0 profile transpose-in-place --device simt:h200 --size 64x64,64x48 --type u8,f32 --check
  shown 'Checked: 0 of '
  run 0 profile reduce --device simt:mi250x --kernel sequential --size 4096 --json -
  shown '"global_loads"'
  cp out profile.json
  follows profile.json profile
  run 0 profile reduce --device simt:h200,simt:mi300x --kernel sequential,tuned --size 4096
  shown '^simt:mi300x  *tuned '
  ! grep -q '^reduce memcpy' out || report profile "a heading of memcpy with nothing below it"
}

# Predicted times, beside a table of others.
predicted() {
  if "$twill" bench --device simt:k20 --size 8 --kernel copy 2>&1 | grep -q 'not timed'; then
    return
  fi
  cat >published.json <<'END'
{"schema": 1, "source": "a test", "results": [
  {"op": "transpose", "device": "k20", "kernel": "coalesced", "type": "f32", "rows": 128, "cols": 128, "loop": "over",
   "block": null, "gbps": 20, "of_memcpy": null, "valid": true, "predicted": false}]}
END
  run 0 bench --device simt:k20 --size 128 --kernel naive-row,coalesced --loop both --compare published.json
  narrow
  shown 'times predicted'
  shown 'coalesced  *32x8  *predicted  *0.0'
  shown 'Beside published.json: a test'
  shown 'coalesced  *f32  *128x128  *32x8  *over .* 20.0 '
  shown '1 rows: median error'
  run 0 bench --device simt:k20 --size 64 --kernel copy --json -
  shown '"predicted": true'
  refused 'No such file' bench --device simt:k20 --size 64 --compare missing.json
}

# A run that is interrupted, here when its first table is out, keeps what it has and says that it is a part.
interrupted() {
  mkdir empty
  mkfifo table
  set -m
  "$twill" bench --device cpu --size 8,4000 --warm --reps 100000 --json empty/out.json >table 2>err &
  local running=$! line code=0
  set +m
  read -r line <table
  kill -INT "$running"
  wait "$running" 2>/dev/null || code=$?
  checks=$((checks + 1))
  [ "$code" -eq 130 ] || report "(interrupted)" "exit code $code, not that of SIGINT (first line: $line)"
  [ "$(ls -A empty)" = out.json ] || report "(interrupted)" "it left $(ls empty)"
  grep -q '"partial": true' empty/out.json || report "(interrupted)" "its file is not marked"
  grep -q '"rows": 8' empty/out.json || report "(interrupted)" "what was done is not in its file"
  follows empty/out.json bench
}

version_and_help
devices
bench
tiny
failing
team
random
planned
sets
bench_moves
fills
regret
bad_moves
batched_and_in_place
bad_bench
bad_files
compare
profile
predicted
interrupted
echo "tool: $checks runs, $failures failures"
[ "$failures" -eq 0 ]
