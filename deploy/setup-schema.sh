#!/bin/sh
# Creates both of Temporal's databases or updates them to the schema of this image. It runs at every start and keeps
# existing data, so an upgrade only needs a newer image. The tool reads SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

schema=${TEMPORAL_SCHEMA_FOLDER:-/etc/temporal/schema}

database() {
  for step in create 'setup-schema -v 0.0' "update-schema -d $schema/postgresql/v12/$2/versioned"; do
    # shellcheck disable=SC2086 # a step is a command with options
    temporal-sql-tool --plugin postgres12 --db "$1" $step
  done
}

database temporal temporal
database temporal_visibility visibility
