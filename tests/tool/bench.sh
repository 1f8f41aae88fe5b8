# Help, devices, ladders, ranks; a run that fails in part, and one that is interrupted. A part of tool_test.sh.
# shellcheck shell=bash

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
  ! grep -q 'timed with --loop over' err || report bench "a note about a loop that it followed"
  run 0 bench --device cpu --size 33 --loop in --reps 1
  grep -q '^On cpu .*timed with --loop over' err || report bench "silent about a loop that it did not follow"
  run 0 bench --device simt --size 33 --type f32 --loop both --block 16x16 --kernel coalesced --json -
  shown '"block": "16x16"'
  run 0 bench --device simt --size 40x70 --block 8x32 --warm
  shown '^Left out: '
  run 0 bench --device simt --size 1x1 --size 1x300 --size 300x1 --warm
  follows cpu.json bench
  follows simt.json bench
  grep -q '"command": "twill bench transpose --device cpu' cpu.json || report bench "no command line in its JSON"
}

# Memory is counted by what tiny problems take, not by their elements. AddressSanitizer reserves terabytes of address
# space, and limits what is used of it by an option of its own. Stacks of threads count too, so there are few.
tiny() {
  local size limit="ulimit -v 4000000"
  ! grep -q __asan_init "$twill" || limit="export ASAN_OPTIONS=hard_rss_limit_mb=4000"
  for size in 2 3x1 1; do
    ($limit && TWILL_THREADS=2 "$twill" bench transpose --device cpu --size $size --type u8 --reps 2 >out 2>err </dev/null) ||
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
  run 0 bench global-transpose --device cpu --team 4 --size 5x9 --transport direct,mixed --tune --reps 2 --json uneven.json
  shown '^memcpy .* 100.0 *$'
  grep -q 'mixed is left out' err || report team "mixed is not left out where there are no messages"
  [ "$(grep -c '"valid": true' uneven.json)" -eq 4 ] || report team "not all rows of uneven parts are valid"
  run 0 bench global-transpose --device cpu --team 4 --size 5x9 --transport direct --reps 2 --json - \
    --tuning "$(sed -n "s/^--tuning '\(.*\)'$/\1/p" out)"
  shown '"kernel": "as-tuned"'
  refused 'not returned by tune' bench global-transpose --device cpu --team 2 --size 8 --transport direct --tuning nonsense
  refused 'too small' bench global-transpose --device cpu --team 2 --size 8 --ranks-per-node -1
  run 0 bench global-transpose --device simt --team 6 --size 24x18x12 --grid 2x3 --transport direct --reps 1 --json -
  grep -q '"plan": "2x3 on 6, direct"' out || report team "no plan in its JSON"
  grep -q '"ms": null' out && ! grep -q '"ms": {' out || report team "a device without a clock or a model has a time"
  is_sanitized || predicted_team
  refused 'pencils have three dimensions' bench global-transpose --device cpu --team 4 --size 64 --grid 2x2
  refused 'P \* Q ranks' bench global-transpose --device cpu --team 4 --size 8x8x8 --grid 2x3
  refused 'known: automatic' bench global-transpose --device cpu --team 2 --size 8 --transport pigeon
  refused 'belong to global-transpose' bench transpose --device cpu --team 2
}

# Times of teams of simulated GPUs, which a build for a sanitizer does not predict.
predicted_team() {
  run 0 bench global-transpose --device simt:h200 --team 4 --size 256 --transport direct,copy --json predicted.json
  shown '^Links: NVLink 4'
  shown '12 of 12 pairs of ranks'
  narrow
  follows predicted.json bench
  grep -q '"predicted": true' predicted.json || report team "a modelled device predicts no time"
  run 0 bench global-transpose --device simt:mi250x --team 2 --size 64 --transport direct
  grep -q 'has no link' err || report team "not said that the datasheet has no link"
  shown '^direct  *- '
}

# A run that is interrupted, here when its first table is out, keeps what it has and says that it is a part. Background jobs
# of scripts, as which the tests may run, ignore SIGINT.
interrupted() {
  mkdir empty
  mkfifo table
  env --default-signal=INT "$twill" bench --device cpu --size 8,4000 --warm --reps 100000 --json empty/out.json >table 2>err &
  local running=$! line code=0
  read -r line <table
  kill -INT "$running"
  wait "$running" 2>/dev/null || code=$?
  checks=$((checks + 1))
  [ "$code" -eq 130 ] || report "(interrupted)" "exit code $code, not that of SIGINT (first line: $line)"
  grep -q '^twill: interrupted (.* is kept in empty/out.json) ' err || report "(interrupted)" "not said where it is kept"
  [ "$(ls -A empty)" = out.json ] || report "(interrupted)" "it left $(ls empty)"
  grep -q '"partial": true' empty/out.json || report "(interrupted)" "its file is not marked"
  grep -q '"rows": 8' empty/out.json || report "(interrupted)" "what was done is not in its file"
  follows empty/out.json bench
}

# Without a file what was measured is shown, and not called kept. The progress on a terminal says when the sixth rung
# begins: the CPU's three, and two that are only checked, are done.
interrupted_table() {
  checks=$((checks + 1))
  python3 - "$twill" >out 2>err <<'END' || report "(interrupted table)" "see below"
import os, pty, signal, subprocess, sys
terminal, end = pty.openpty()
run = subprocess.Popen([sys.argv[1], "bench", "--device", "simt", "--size", "512", "--warm"], stdout=subprocess.PIPE, stderr=end,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
os.close(end)
said = b""
while b"[6/" not in said:
    said += os.read(terminal, 4096)
run.send_signal(signal.SIGINT)
shown = run.stdout.read().decode()
try:
    while more := os.read(terminal, 4096):
        said += more
except OSError:  # its other end is closed
    pass
print(shown, said.decode())
assert run.wait() == -signal.SIGINT, run.returncode
assert "\nmemcpy " in shown and "Interrupted: " in shown, "no table"
assert b"twill: interrupted (what was measured until then is shown, and not kept)" in said, "no message"
END
}

# interrupted_early ARGUMENTS...: with nothing to keep, it says that it was interrupted. The last digit of the signals that it
# catches has SIGINT's bit once it is ready for one.
interrupted_early() {
  local running state code=0
  checks=$((checks + 1))
  env --default-signal=INT "$twill" "$@" >out 2>err &
  running=$!
  while state=$(grep -E '^(Name|State|SigCgt):' "/proc/$running/status" 2>/dev/null); do
    # Not this shell or env, before they become it; or it has ended.
    [[ $state =~ ^Name:.twill$'\n'.*SigCgt:.*[2367abef]$ || $state == *State:?Z* ]] && break
  done
  kill -INT "$running"
  wait "$running" 2>/dev/null || code=$?
  [ "$code" -eq 130 ] || report "$*" "exit code $code, not that of SIGINT"
  [ "$(cat err)" = 'twill: interrupted (before it was done) run it again' ] || report "$*" "it does not say that it was interrupted"
}

version_and_help
devices
bench
tiny
failing
team
interrupted
interrupted_table
mkfifo waiting
interrupted_early explain --device simt:h200 --random 10^7
is_sanitized || interrupted_early profile --device simt:h200 --size 4096
interrupted_early compare waiting
