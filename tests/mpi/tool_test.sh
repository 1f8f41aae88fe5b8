#!/usr/bin/env bash
# tool_test.sh SIZE TWILL LAUNCHER...: `twill bench global-transpose` in SIZE processes, a rank each.
set -u
size=$1 twill=$2
shift 2
launcher=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

report() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
  sed 's/^/  | /' out err
}

# run CODE ARGUMENTS...
run() {
  local expected=$1 code=0
  shift
  "${launcher[@]}" "$twill" bench global-transpose "$@" >out 2>err </dev/null || code=$?
  [ "$code" -eq "$expected" ] || report "$*: exit code $code, not $expected"
}

# once PATTERN FILE: one line of it.
once() {
  [ "$(grep -c -- "$1" "$2")" -eq 1 ] || report "not one line \"$1\" in $2"
}

# refused PATTERN ARGUMENTS...: one line of all processes, beside what the launcher says.
refused() {
  local pattern=$1
  shift
  run 2 "$@"
  once '^twill: ' err
  grep -q "^twill: .*$pattern.* (.*) " err || report "$*: no \"$pattern\""
}

# A launcher of another MPI: what it started sees itself alone.
OMPI_COMM_WORLD_SIZE=7 PMI_SIZE=7 "$twill" bench global-transpose --device cpu --size 8 >out 2>err </dev/null
[ $? -eq 2 ] || report "seven processes of one each were not refused"

if [ "$size" -eq 1 ]; then
  run 0 --device cpu --team 3 --reps 2 --size 40x30 --transport direct --json one.json
  once '^global transpose of 40x30 f32, slab on 3 ranks' out
  ! grep -q '"valid": false' one.json || report "a row of one process is not valid"
  run 0 --device cpu --team 3 --reps 2 --size 40x30 --transport direct --blocks 2 --json blocks.json
  once '2 blocks for each peer' blocks.json
  run 2 --device cpu --size 0^0
  run 2 --device cpu --size 8 --transport pigeon
  echo "tool in 1 process: $failures failures"
  [ "$failures" -eq 0 ]
  exit
fi

run 0 --device cpu --reps 2 --size 96x60,5x9,12x16x20 --type f32,b3 --transport mpi --json team.json --csv team.csv
once "^global transpose of 96x60 f32, slab on $size ranks" out
[ "$(wc -l <team.csv)" -eq 19 ] || report "not 6 cases of 3 rows"
[ "$(grep -c '"valid": true' team.json)" -eq 18 ] || report "not all rows are valid"

run 0 --device cpu --reps 2 --size 40x30 --transport mixed,mpi --ranks-per-node 1 --tune --json tuned.json
once '^tuned ' out
once '"kernel": "mixed"' tuned.json
! grep -q '"valid": false' tuned.json || report "a tuned row is not valid"
line=$(sed -n "s/^--tuning '\(.*\)'$/\1/p" out)
run 0 --device cpu --reps 2 --size 40x30 --transport mpi --ranks-per-node 1 --tuning "$line"
once '^as-tuned ' out

# Ranks whose devices have a clock, and others that have none: no times, and no hang.
run 0 --device cpu,simt --reps 2 --size 24x18 --transport mpi --json mixed.json
! grep -q '"valid": false' mixed.json || report "a row of mixed devices is not valid"
python3 -c 'import json; names = [d["name"] for d in json.load(open("mixed.json"))["devices"]]; assert names == ["cpu", "simt"], names' ||
  report "the file does not name the devices of all processes"
refused 'several cases' --device cpu --size 41x30,40x30 --transport mpi --tuning "$line"
refused 'saved tuning was measured for a different plan' --device cpu --size 41x30 --transport mpi --ranks-per-node 1 --tuning "$line"
refused "in $size processes" --device cpu --team 3 --size 8
refused 'is not one of' --device cpu --size 8x8x8 --grid 5x5
refused 'no transport' --device cpu --size 8 --transport pigeon
refused 'too small' --device cpu --size 8 --reps 0
# The first process alone writes, and cannot: all end at once.
run 3 --device cpu --reps 2 --size 8 --transport mpi --json /dev/full
once '^twill: cannot write' err

run 3 --device cuda:99 --size 8
once '^twill: ' err
echo "tool in $size processes: $failures failures"
[ "$failures" -eq 0 ]
