# What the scripts share: where things are, how lanes run side by side, and how the server under test is built, started
# and ended.
# shellcheck shell=bash disable=SC2034
interop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$interop/../.." && pwd)
cache=${PORTCULLIS_INTEROP_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/portcullis-interop}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
node=$cache/node/bin/node # a link, which `install` points at the node of this platform
recorder=(python3 -B "$interop/recorder.py")

# Sets $everything to the server under test: EVERYTHING=PATH, or the example, built.
find_everything() {
  if [ -n "${EVERYTHING:-}" ]; then
    everything=$(realpath "$EVERYTHING")
  else
    (cd "$tree" && cargo build --quiet --locked --example everything)
    everything=$(cd "$tree" && cargo metadata --format-version 1 --no-deps --offline |
      python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/debug/examples/everything
  fi
  [ -x "$everything" ] || { echo "interop: $everything is not there"; exit 1; }
}

# Runs the tests of what judges and compares.
test_ourselves() {
  local told
  told=$(cd "$interop" && python3 -B -m unittest --quiet judge_test recording_test replay_test 2>&1) ||
    { echo "$told"; exit 1; }
}

# Sets $scratch to a folder that is gone after a run that passed, and kept after one that failed.
make_scratch() {
  scratch=$(mktemp -d -t portcullis-interop.XXXXXX)
  trap 'leave $?' EXIT
}

leave() {
  end_jobs
  if [ "$1" = 0 ]; then rm -rf "$scratch"; else echo "interop: failed; reports and logs are in $scratch"; fi
}

# Ends what this shell started and what is still running.
end_jobs() {
  local jobs
  mapfile -t jobs < <(jobs -p)
  [ ${#jobs[@]} = 0 ] || kill "${jobs[@]}" 2>/dev/null || true
}

# side_by_side FUNCTION ITEM...: runs FUNCTION for all items at once, each in a shell of its own; fails when one fails.
# Each prints when all have ended.
side_by_side() {
  local function=$1 item lanes=() failed=0
  shift
  for item; do
    (trap end_jobs EXIT && trap 'exit 143' TERM && "$function" "$item") >"$scratch/lane-$item.out" 2>&1 &
    lanes+=($!)
  done
  for item in "${lanes[@]}"; do wait "$item" || failed=1; done
  for item; do cat "$scratch/lane-$item.out"; done
  return "$failed"
}

# start_server NAME OPTION...: starts $everything over HTTP on a free port; sets $server to its process and $url to where
# it serves. NAME is for its logs.
start_server() {
  local log="$scratch/server-$1.log"
  shift
  "$everything" --listen 127.0.0.1:0 "$@" >"${log%.log}.out" 2>"$log" &
  server=$!
  for _ in $(seq 300); do
    url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+/mcp' "$log" | head -n 1) && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "interop: $everything does not serve:"
  cat "$log"
  exit 1
}

# Ends the server; fails when it had ended by itself or does not end within ten seconds.
stop_server() {
  kill "$server" 2>/dev/null || { echo "FAIL the server ended by itself"; return 1; }
  for _ in $(seq 100); do
    kill -0 "$server" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$server" 2>/dev/null || return 0
  echo "FAIL the server does not end when told to"
  return 1
}

# Fails when a server panicked, over either transport: the logs of stdio clients have their server's stderr.
no_panics() {
  ! grep "panicked at" "$scratch"/*.log || { echo "FAIL a server panicked"; return 1; }
}

# keep_recordings NAME: keeps what is in $scratch/recordings (or, for the suite, of that revision) beside the program,
# with a note of which program it was.
keep_recordings() {
  local from=$scratch/recordings kept=$everything.recordings/$1
  [ ! -d "$from/$1" ] || from=$from/$1
  rm -rf "$kept"
  mkdir -p "${kept%/*}"
  cp -r "$from" "$kept"
  sha256sum <"$everything" >"$kept/program"
}
