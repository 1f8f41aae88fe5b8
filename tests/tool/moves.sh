# Operations that move elements, and those over arrays and rows. A part of tool_test.sh.
# shellcheck shell=bash

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

# Reversed, with gaps on either side, and reading elements twice.
strided_permutes() {
  printf 'u8 30x20 0,1 20,-1\nu16 30x20x3 2,0,1 -80,4,1\nu32 9x33 1,0 - 10,-1\nb3 9x33 1,0 -40,1 -12,1\nf64 5x7 0,1 1,2\n' >strides.txt
  run 0 bench permute --device cpu,simt --list strides.txt --reps 3 --json strides.json
  shown '^u8 30x20 to 0,1, in strides 20,-1 '
  narrow
  follows strides.json bench
  ! grep -q '"valid": false' strides.json || report bench "a permutation with strides is not valid"
  [ "$(grep -c '"valid": true' strides.json)" -eq 20 ] || report bench "not 20 permutations with strides"
  run 0 compare strides.json
  narrow
  run 0 bench permute --device simt --size 9x33 --order 1,0 --in-strides=-40,1 --out-strides 12,-1 --kernel gather,elementwise
  shown '^gather  *valid'
  shown '^permute 9x33 to 1,0, in strides -40,1, out strides 12,-1 f32'
  run 0 explain permute --device simt:h200 --size 1080x1920x3 --order 0,1,2 --in-strides 7680,4,1 --type u8
  shown '^permute 1080x1920x3 to 0,1,2, in strides 7680,4,1 u8'
  run 0 explain permute --device simt:h200 --size 64x96 --order 0,1 --in-strides 96,-1 --json -
  grep -q '"in_strides": ' out || report explain "no strides in its JSON"
  refused 'do not fit 3 extents' bench permute --size 2x3x4 --order 0,1,2 --in-strides 1,2
  for strides in 0,1 4,x 1,,2 1, 99999999999999999999,1 2305843009213693952,1; do
    refused 'not understood' bench permute --size 2x3 --order 0,1 "--in-strides=$strides"
  done
  refused 'too large' bench permute --size 2x2 --order 0,1 --type c128 --out-strides 1152921504606846976,1
  refused 'interleave' bench permute --size 5x3 --order 0,1 --out-strides 3,2
  refused 'interleave' bench permute --size 5x3 --order 0,1 --out-strides 1,1
  refused 'strides mean nothing' bench transpose --size 4x4 --in-strides 4,1
  refused 'strides do not go together' explain permute --random 3 --in-strides 1,2
  refused 'do not go together' bench permute --random 3 --in-strides 1,2
  printf 'u8 2x3 0,1 3,1 3,1 7\n' >list.txt
  refused 'list.txt:1: .*two to five words' bench permute --list list.txt
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
    assert abs(moved - (2 if r["kernel"] == "memcpy" else 1)) < 1e-3, (r["kernel"], moved)
    assert r["roof"] == "memset" and r["of_memcpy"] is None, r
assert len(rows) == 15, len(rows)
END
  checks=$((checks + 1))
  python3 bytes.py >err 2>&1 || report "(fill)" "wrong bytes in its JSON"
  refused 'takes an array' bench fill --size 4x4
  refused 'too large' bench fill --size 2^62 --type b64
}

bad_moves() {
  run 0 bench reduce --device cpu,simt --size 30001 --type f16,u8,c128 --warm --reps 3
  shown "Left out: the ladder's own rungs cannot sum u8"
  printf 'u8 300\nu8 301\nf32 300\n' >sums.txt
  run 0 bench reduce --device simt --list sums.txt --kernel sequential,tuned
  [ "$(tr -d '\n' <out | grep -c "Left out: the ladder's own rungs cannot sum u8.*In 2 *cases\.")" = 1 ] ||
    report "bench reduce --list" "not said which kernels were left out, and of how many cases"
  run 0 bench reduce-rows --device cpu,simt --size 70x3001 --type f32,i16 --warm --reps 3
  run 0 bench reduce-columns --device cpu,simt --size 3001x70 --type f64,bf16 --warm --reps 3
  run 0 bench scan-rows --device cpu,simt --size 70x3001,500x9,64x64 --type f32,u8,i64,c64 --warm --reps 3
  run 0 bench scan --device cpu,simt --size 30001 --type u8,f16,i64,c64 --warm --reps 3
  run 0 bench reverse --device cpu,simt --size 30001 --type b3 --warm --reps 3
  run 0 bench sieve --device simt:gtx280 --size 4096
  shown '^shared '
  shown 'Left out: .*sieve cannot run on simt:gtx280'
  run 0 bench sieve --device cpu,simt --size 30001 --warm --reps 3
  shown 'sieve 30001 i32'
  refused 'i32' bench sieve --type f64
  refused 'no matrix' bench reduce-rows --size 4x4x4
  refused 'no matrix' bench scan-rows --size 4x4x4
  run 0 bench reduce-columns --device cpu --size 64 --reps 3
  shown 'reduce-columns 64x64 f32'
  refused 'only bytes' bench scan --type b3
  refused 'not a permutation of the 3' bench permute --size 2x3x4 --order 1,0,1
  refused 'not a permutation of the 3' bench permute --size 2x3x4 --order 1,0
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

bench_moves
strided_permutes
fills
bad_moves
batched_and_in_place
