#!/bin/sh
# Brings both of Temporal's databases to the schema of this image. Runs at every start: it leaves alone what is there,
# so a newer image is all an upgrade takes. The tool reads SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD itself.
set -eu

database() {
  for step in create 'setup-schema -v 0.0' "update-schema -d /etc/temporal/schema/postgresql/v12/$2/versioned"; do
    # shellcheck disable=SC2086 # a step is a command with its options
    temporal-sql-tool --plugin postgres12 --db "$1" $step
  done
}

database temporal temporal
database temporal_visibility visibility
