#!/bin/sh
# Runs a program with the database password in its environment, because Temporal's programs read it nowhere else. From
# the compose file, it would also be in `docker inspect`.
set -eu
# The server reads the first one, temporal-sql-tool the second one.
POSTGRES_PWD=$(cat "$POSTGRES_PASSWORD_FILE")
SQL_PASSWORD=$POSTGRES_PWD
export POSTGRES_PWD SQL_PASSWORD
exec "$@"
