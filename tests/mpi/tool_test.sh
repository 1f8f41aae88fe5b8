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
refused 'several cases' --device cpu --size 41x30,40x30 --transport mpi --tuning "$line"
refused 'saved tuning is of another plan' --device cpu --size 41x30 --transport mpi --ranks-per-node 1 --tuning "$line"
refused "in $size processes" --device cpu --team 3 --size 8
refused 'is not one of' --device cpu --size 8x8x8 --grid 5x5
refused 'no transport' --device cpu --size 8 --transport pigeon
refused 'too small' --device cpu --size 8 --reps 0
run 3 --device cuda:99 --size 8
once '^twill: ' err
echo "tool in $size processes: $failures failures"
[ "$failures" -eq 0 ]
