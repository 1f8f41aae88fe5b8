# Profiles and predictions. A part of tool_test.sh.
# shellcheck shell=bash

sheets=$root/presets/devices

profile() {
  refused 'simulated' profile
  refused 'simt:h200' profile --device cpu
  refused 'simt:mi250x' profile --device simt
  unable 'there are: simt' profile --device simt:frobnicate
  refused 'known: transpose' profile frobnicate --device simt:h200
  refused 'integer from 1' profile --device simt:h200 --threads 0
  refused 'same file (-)' profile --device simt:h200 --json - --svg -
  for kernel in memcpy cpu-tuned coalesced,memcpy; do
    refused 'known: .*tuned' profile --device simt:h200 --kernel $kernel
  done
  refused 'an order means nothing to transpose' profile --device simt:h200 --size 8 --order 0,1
  refused 'not a permutation of the 3 dimensions' profile permute --device simt:h200 --size 8x8x8 --order 0,1
  refused '"vec3" cannot move 100x100' profile --device simt:h200 --size 100x100 --kernel vec3
  refused 'no reduce kernel "gather"' profile reduce --device simt:h200 --size 100 --kernel gather
}

counts() {
  run 0 profile --device simt:h200 --kernel coalesced,tuned --size 256x64 --type u8,f32
  narrow
  shown 'transpose_rungs.hpp'
  shown ' tile\[threadIdx.x\]'
  shown 'shared load .* wavefronts .*32.00x ideal'
  run 0 profile --device simt:gtx280 --kernel copy --size 512 --threads 4096
  shown 'a sample of 16 '
  run 0 profile permute --device simt:h200 --size 6x10x41 --order 1,0,2 --in-strides 420,42,1 --kernel gather,rows
  narrow
  shown '^permute gather, 6x10x41 to 1,0,2'
  shown 'permute_gather<'
  shown '^permute rows, '
  run 0 profile --device simt:k20 --kernel unrolled --size 40x70 --check
  shown 'Checked: 0 of 1 kernels'
  run 0 profile scan --device simt:gtx280 --size 20000
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

pictures() {
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
}

# A program without its sources, or older than them, does not show their lines.
lines_of_sources() {
  mkdir -p tree/src/ladder/gpu
  cp "$twill" tree/twill
  tree/twill profile --device simt:h200 --kernel copy --size 64 >out
  shown 'transpose_rungs.hpp (not found here: its lines are left out)'
  echo 'another file' >tree/src/ladder/gpu/transpose_rungs.hpp
  touch -d 2000-01-01 tree/twill
  tree/twill profile --device simt:h200 --kernel copy --size 64 >out
  shown 'transpose_rungs.hpp (changed since this program was built: its lines are left out)'
}

several_devices() {
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
  run 0 bench --device simt:k20 --size 64 --kernel tuned --json single.json
  run 0 bench --device simt:k20 --size 3x64x64 --kernel tuned --compare single.json
  shown '^No row of it'
  run 0 bench --device simt:k20,simt:gtx280 --size 64 --kernel tuned --compare single.json
  shown '^simt:gtx280  *tuned '
}

profile
if ! is_sanitized; then
  counts
  pictures
  lines_of_sources
  several_devices
fi
predicted
