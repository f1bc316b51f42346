#!/bin/sh
# Begins a loop for each line of stdin.
echo ready
while read -r site; do
  sh "$(dirname "$0")/loop.sh" "$site" &
done
wait
