#!/bin/sh
# Replaces the workers of docker-compose.yml one after another, after `docker compose build` or a change of belay.yaml:
# each new one polls before the next old one stops. Its arguments go to every `docker compose`, such as
# `--env-file deploy/sandbox.env`.
set -eu

# Reads belay.yaml in a container of its own. A mistake ends the script here, while all workers run.
docker compose "$@" run --rm --no-deps --no-TTY worker schedule apply --dry-run

# `--all` lists workers that have ended, too, and what `docker compose run` made of this service, which is left alone.
workers=$(docker compose "$@" ps --all --quiet worker)
: "${workers:?there is none: start them with docker compose up --detach worker}"
# One that never started has no health.
health='{{if .State.Health}}{{.State.Health.Status}}{{else}}none{{end}}'
# shellcheck disable=SC2086 # each id is an argument
states=$(docker inspect --format "$health"' {{index .Config.Labels "com.docker.compose.oneoff"}} {{.Id}}' $workers)

# Those that are not healthy come first, such as one that a mistake kept from polling: `healthy` sorts before other states.
for worker in $(echo "$states" | sort -r | sed -n 's/^.* False //p'); do
  # It gets the time of `stop_grace_period`.
  docker stop "$worker" >/dev/null
  docker rm "$worker" >/dev/null
  # Fails if the new worker does not become healthy, and leaves the remaining ones running.
  docker compose "$@" up --detach --wait --no-deps --no-recreate worker
done
