#!/bin/sh
# Replaces the workers of docker-compose.yml one after another, after `docker compose build` or a change of belay.yaml:
# each new one polls before the next old one stops. Its arguments go to every `docker compose`, such as
# `--env-file deploy/sandbox.env`.
set -eu

# Reads belay.yaml in a container of its own. A mistake ends the script here, while all workers run.
docker compose "$@" run --rm --no-deps --no-TTY worker schedule apply --dry-run

# In the list of the loop, a failure would end the script with success.
workers=$(docker compose "$@" ps --all --quiet worker)
for worker in $workers; do
  # It gets the time of `stop_grace_period`.
  docker stop "$worker" >/dev/null
  docker rm "$worker" >/dev/null
  # Fails if the new worker does not become healthy, and leaves the remaining ones running.
  docker compose "$@" up --detach --wait --no-deps --no-recreate worker
done
