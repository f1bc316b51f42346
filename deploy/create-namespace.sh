#!/bin/sh
# Makes the namespace and Belay's search attributes; what is there already is left alone. The CLI reads
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE itself.
set -eu

cli() { temporal --command-timeout 10s operator "$@"; }

namespace() {
  cli namespace describe >/dev/null 2>&1 || cli namespace create --retention 30d
}

attribute() { cli search-attribute create --name "$1" --type "$2"; }

# A new server refuses for a while, and a new namespace isn't known everywhere at once. What fails after that stays so.
retry() {
  left=40
  until "$@"; do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      echo "given up: $*" >&2
      exit 1
    fi
    sleep 3
  done
}

retry namespace
retry attribute BelaySite KeywordList
retry attribute BelayServer KeywordList
retry attribute BelayPhase Keyword
retry attribute BelayOutcome Keyword
retry attribute BelayTrigger Keyword
