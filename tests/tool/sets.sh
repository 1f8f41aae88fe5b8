# Sets of cases, and what the planner chooses in them. A part of tool_test.sh.
# shellcheck shell=bash

random() {
  local op
  for op in transpose permute copy scan-rows reduce-rows reduce-columns; do
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
  refused 'known: transpose, permute, copy, scan-rows, reduce-rows' bench reduce --random 3
  refused 'room' bench permute --random 3 --max-bytes 100
  refused 'do not go together' bench permute --random 3 --size 4x4
  refused 'belongs to --random' bench --seed 3
}

# What the planner would choose, and each of its candidates forced. No message is cut by a line's end.
planned() {
  run 0 explain permute --device simt:h200 --size 16x42x450x321 --order 2,3,1,0 --json explain.json
  shown '^\*  [a-z]'
  shown '  misaligned  *[0-9.]*'
  shown '  gather  *[0-9.]*  [0-9]* segments of '
  narrow
  grep -q '"takes": "2 to 8 packed columns' explain.json || report explain "no families in its JSON"
  run 0 explain --device simt:h200 --size 4096,3000x3,100x257x289 --type f32,b12
  shown '^\*  tiled-2d '
  shown '^transpose 100x257x289 b12 on simt:h200'
  run 0 explain --device simt:h200 --size 4096x3
  shown '^   gather .* 1 segment of '
  run 0 explain permute --device simt:h200 --random 9 --seed 3 --json drawn.json
  shown 'planned on the host in [0-9.]* us'
  grep -q '"planning_us": ' drawn.json || report explain "no planning time in its JSON"
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
    python3 "$root/scripts/families" --twill "$twill" regret.json >families.md 2>err || report families "it failed"
    grep -q '^| all | 4 | ' families.md || report families "not four cases in its table"
    grep -q '^| elementwise | anything' families.md || report families "no elementwise in its table"
  fi
  refused 'it takes 2 to 8 packed columns' bench --device simt --size 60x52 --kernel narrow
  refused 'it takes contiguous runs' bench permute --device simt --size 60x52x3 --kernel gather,rows
  refused 'no permute kernel "frob"' bench permute --device simt --size 60x52x3 --kernel frob
  refused 'belongs to --random' bench --device simt --size 60x52 --regret
  printf 'u8 60x52\nf32 128x96\n' >regret.txt
  run 0 bench --device simt:h200 --list regret.txt --regret
  is_sanitized || shown '^Regret, the time of the choice over .*: 2 cases'
  run 0 bench --device simt:h200 --device simt:gtx280 --list regret.txt --regret
  is_sanitized || shown '^Regret on simt:gtx280, the time of the choice over'
  is_sanitized || shown '^Regret on simt:h200, the time of the choice over'
  refused 'belongs to --random' bench --sweep square --regret
  refused 'chooses from' bench copy --random 2 --regret
  refused 'leave it, or --kernel, out' bench --random 2 --regret --kernel gather
  refused 'belongs to --random' explain --device simt --seed 3
  refused 'do not go together' explain --device simt --random 3 --type u8
  refused 'known: transpose, permute' explain reduce
  refused 'no kernels to choose from' explain --device cpu
  refused 'order' explain permute --device simt --size 3x4 --order 0,0
  refused 'size' explain --device simt --size 0x
  refused 'order' explain --device simt --size 3x4 --order 1,0
  unable 'there are: ' explain --device simt:nix
}

# Only a planner's choice can be regretted.
regret() {
  refused 'nothing to compare on cpu' bench permute --device cpu --random 3 --regret
  refused 'nothing to compare on cpu' bench permute --device simt:h200,cpu --random 3 --regret
  refused 'add what it belongs to' bench permute --device cpu --regret
}

sets() {
  run 0 bench --grid small,batched --max-bytes 2^14 --device cpu --reps 1 --json grid.json
  shown '^small: up to 16 KiB'
  shown '^64x64 '
  shown '^cpu-tuned on cpu: .* geometric mean '
  narrow
  follows grid.json bench
  run 0 bench --grid strided --max-bytes 4096 --device cpu,simt --reps 1 --json strided.json
  grep -q '"gap": 1' strided.json || report bench "no gap in its JSON"
  run 0 bench transpose-in-place --grid all --max-bytes 4096 --device cpu --reps 1
  shown '^least-scratch on cpu: '
  run 0 bench --sweep batched --max-bytes 512 --device cpu --reps 1 --warm --svg sweep.svg
  shown '^sweep-batched: .*, about 512 bytes in all'
  grep -q '^Left out: .* of sweep-batched with more than --max-bytes' err || report bench "silent about what it left out"
  tail -1 sweep.svg | grep -q '</svg>' || report bench "no picture of a sweep"
  grep -q viewBox sweep.svg || report bench "a picture that does not scale"
  refused 'known: main, odd' bench --grid frobnicate
  refused 'is for transposes' bench permute --grid main
  refused 'nothing to measure' bench --sweep square --max-bytes 10 --device cpu
  refused 'belongs to --sweep' bench --device cpu --size 4 --svg x.svg
}

random
planned
regret
sets
