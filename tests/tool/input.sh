# Bad usage: one line, and no file lost. A part of tool_test.sh.
# shellcheck shell=bash

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

bad_bench
bad_files
