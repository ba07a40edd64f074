# What the scripts share: where things are, and how the server under test is built, started and ended.
# shellcheck shell=bash disable=SC2034
interop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$interop/../.." && pwd)
cache=${PORTCULLIS_INTEROP_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/portcullis-interop}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
node=$cache/node/bin/node # a link, which `install` points at the node of this platform

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

# Sets $scratch to a folder that is gone after a run that passed, and kept after one that failed.
make_scratch() {
  scratch=$(mktemp -d -t portcullis-interop.XXXXXX)
  trap 'leave $?' EXIT
}

leave() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
  if [ "$1" = 0 ]; then rm -rf "$scratch"; else echo "interop: failed; reports and logs are in $scratch"; fi
}

# Starts $everything over HTTP on a free port; sets $server to its process and $url to where it serves.
start_server() {
  : >"$scratch/server.log" # the address of a server before this one is not read for this one's
  "$everything" --listen 127.0.0.1:0 >"$scratch/server.out" 2>"$scratch/server.log" &
  server=$!
  for _ in $(seq 300); do
    url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+/mcp' "$scratch/server.log" | head -n 1) && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "interop: $everything does not serve:"
  cat "$scratch/server.log"
  exit 1
}

# Ends the server; fails when it had ended by itself or does not end within ten seconds.
stop_server() {
  kill "$server" 2>/dev/null || { echo "FAIL the server ended by itself"; return 1; }
  for _ in $(seq 100); do
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  if kill -9 "$server" 2>/dev/null; then echo "FAIL the server does not end when told to"; return 1; fi
  server=
}

# Fails when a server panicked, over either transport: the logs of stdio clients have their server's stderr.
no_panics() {
  ! grep "panicked at" "$scratch"/*.log || { echo "FAIL a server panicked"; return 1; }
}
