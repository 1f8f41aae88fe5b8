# Bad usage: one line, and no file lost. A part of tool_test.sh.
# shellcheck shell=bash

bad_bench() {
  refused 'no command'
  refused 'expected: frobnicate' frobnicate
  refused 'expected: --frobnicate' bench --frobnicate
  refused 'known: transpose, .*, global-transpose)' bench frobnicate
  unable 'cpu, ' bench --device frobnicate
  unable 'simt' bench --device simt:frobnicate
  refused 'cpu-naive' bench --device cpu --kernel frobnicate
  refused 'naive-row' bench --device simt --kernel frobnicate
  refused 'u8, u16' bench --type f31
  for size in 0x5 5x0 0 00x1; do refused 'no elements' bench --size $size; done
  for size in -4x4 4x 4xx4 x4 x 4y4 4.5x3 1e3 '' 99999999999999999999x2; do refused 'size' bench "--size=$size"; done
  for size in 3,,4 ,3 3,; do refused 'empty part' bench "--size=$size"; done
  refused 'two' bench --size 2x3x4x5
  for size in 9000000000000000000x9 2^62 2^63 2^64 10^30 99999999999999999999; do
    refused "size [0-9x^]* is too large" bench --size $size
  done
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

# Values that a conversion could take for another, or for none.
odd_values() {
  local option
  for option in --order --loop --sweep --random --seed --max-bytes --reps --list --json --csv --svg --compare --team; do
    refused "$option: an empty value" bench --device cpu --size 4 $option ''
  done
  for option in --device --kernel --type --block --grid; do
    "$twill" bench --size 4 $option '' >out 2>err && report "bench $option ''" "it was taken"
    [ "$(wc -l <err)" -eq 1 ] || report "bench $option ''" "not one line on stderr"
  done
  for count in nan -1 1e3 1.5 99999999999999999999 2^64; do
    refused 'reps' bench --size 4 "--reps=$count"
    refused 'max-bytes' bench --random 2 "--max-bytes=$count"
    refused 'threads' profile --device simt:h200 --size 8 --kernel copy "--threads=$count"
  done
  refused 'write for example --max-bytes 2^26' bench --random 2 --max-bytes 0
  run 0 bench --random 2 --max-bytes 2^26 --device cpu --kernel memcpy --reps 1
  for count in 0 -1 257 99999; do refused 'out of range' bench global-transpose --device cpu --size 8 "--team=$count"; done
  for size in nan inf 2^ ^2 +4 ' 4' '4 ' 4X4 '4×4'; do refused 'not understood' bench "--size=$size"; done
  for type in F32 b b0 b-1 b99999999999999999999; do refused 'no element type' bench --size 4 "--type=$type"; done
  for block in 0x0 1x2147483648 nan; do refused 'not understood' bench --device simt "--block=$block"; done
  refused 'too large' bench --size 2^62x2
  refused 'too large' bench permute --size 2^20x2^20x2^20x2^20
  refused 'not a permutation of the 2' bench permute --size 2x3 --order 0,1,2,3
  refused 'not understood' bench permute --size 2x3 --order 99999999999999999999,0
  unable 'no device "CPU"' bench --device CPU --size 8
  unable 'the CPU is one device' bench --device cpu:1 --size 8
  for option in --seed=3 --max-bytes=5 --loop=in; do
    refused "${option%=*} means nothing" bench global-transpose --device cpu --size 8 $option
  done
  for option in --warm --cold --regret; do
    refused "$option means nothing" bench global-transpose --device cpu --size 8 $option
  done
  is_sanitized || refused 'it launches no kernel' profile copy --device simt:h200 --size 8 --kernel tuned
}

# What is named twice is run once.
duplicates() {
  run 0 explain --device simt:h200,simt:h200 --size 64
  [ "$(grep -c '^transpose 64x64' out)" -eq 1 ] || report explain "a device named twice is explained twice"
  run 0 bench --device cpu,cpu --size 4,4 --kernel memcpy,memcpy --reps 1 --json twice.json
  [ "$(grep -c '"kernel"' twice.json)" -eq 1 ] || report bench "a case named twice runs twice"
  run 0 bench --grid small,small --max-bytes 2^14 --device cpu --kernel memcpy --reps 1 --json twice.json
  run 0 bench --grid small --max-bytes 2^14 --device cpu --kernel memcpy --reps 1 --json once.json
  [ "$(grep -c '"kernel"' twice.json)" -eq "$(grep -c '"kernel"' once.json)" ] || report bench "a part of the grid runs twice"
}

# Files that are none, or none of ours, and outputs that would overwrite one another or an input.
odd_files() {
  local file
  printf '\0\1\2\n' >bytes.bin
  printf '{' >cut.json
  : >empty.json
  echo '[]' >list.json
  printf '%100000s' '' | tr ' ' '[' >deep.json
  for file in bytes.bin cut.json empty.json list.json deep.json nowhere.json . /dev/null ''; do
    refused 'cannot compare' compare "$file"
    [ -z "$file" ] || refused 'cannot compare' bench --device cpu --size 4 --compare "$file"
  done
  for file in cut.json empty.json list.json deep.json nowhere.json; do
    refused 'datasheet' bench --device "simt:$file" --size 8
  done
  refused 'it is a folder' bench --list .
  refused 'every line is empty' bench --list /dev/null
  refused 'bytes.bin:1: ' bench --list bytes.bin
  ! LC_ALL=C grep -q '[[:cntrl:]]' err || report "bench --list bytes.bin" "control characters in its message"
  unable '"/dev/full" (No space left' devices --json /dev/full
  [ ! -s out ] || report devices "it printed a table"
  local code=0
  "$twill" devices >/dev/full 2>err || code=$?
  [ "$code" -eq 3 ] || report "devices >/dev/full" "exit code $code, not 3"
  echo 'f32 4x4' >cases.txt
  run 0 bench --device cpu --size 4 --reps 1 --json mine.json
  cp mine.json kept.json
  refused 'FILE and --json name the same file' compare mine.json --json mine.json
  refused 'FILE and --json name the same file' compare mine.json --json ./mine.json
  refused '--compare and --json name the same' bench --device cpu --size 4 --reps 1 --compare mine.json --json mine.json
  refused '--list and --csv name the same' bench --device cpu --reps 1 --list cases.txt --csv cases.txt
  refused '--json and --csv name the same' bench --device cpu --size 4 --json same --csv ./same
  refused '--json and --csv name the same' bench --device cpu --size 4 --json - --csv /dev/stdout
  refused '--json and --csv name the same' bench global-transpose --device cpu --size 4 --json same --csv same
  refused '--csv and --svg name the same' bench --device cpu --sweep batched --csv same --svg same
  refused '--json and --svg name the same' profile --device simt:h200 --size 8 --json same --svg same
  cmp -s mine.json kept.json || report "(files)" "an input was changed"
  [ ! -e same ] || report "(files)" "a file was left"
  run 0 bench --device cpu --size 4 --reps 1 --json /dev/null --csv /dev/null
}

bad_bench
bad_files
odd_values
duplicates
odd_files
