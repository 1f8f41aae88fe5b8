#!/usr/bin/env bash
# tool_test.sh TWILL PART...: runs the command TWILL on good and bad input, as tests/tool/PART.sh says: exit codes, one-line
# messages, files whole or absent.
set -u
twill=$(realpath "$1")
shift
root=$(dirname "$(dirname "$(realpath "$0")")")
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

is_sanitized() { "$twill" profile --device simt:h200 --size 8 --kernel copy 2>&1 | grep -q 'compiled for a sanitizer'; }

for part in "$@"; do
  # shellcheck source=/dev/null
  . "$root/tests/tool/$part.sh"
done
echo "tool: $checks runs, $failures failures"
[ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
