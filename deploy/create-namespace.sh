#!/bin/sh
# Creates the namespace and Belay's search attributes, unless they exist. The CLI reads TEMPORAL_ADDRESS and
# TEMPORAL_NAMESPACE itself.
set -eu

cli() { temporal --command-timeout 10s operator "$@"; }

namespace() {
  cli namespace describe >/dev/null 2>&1 || cli namespace create --retention 30d
}

attribute() { cli search-attribute create --name "$1" --type "$2"; }

# A new server rejects requests for a while, and a new namespace takes time to become known. Two minutes cover both.
retry() {
  left=40
  until "$@"; do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      echo "gave up: $*" >&2
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
