#!/bin/bash
# What docker-compose.yml uses of the entrypoint of the official image: root gives the data away and goes on as user
# postgres, which sets the database up with the password from a file, without a TCP port meanwhile.
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  chown -R postgres "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile=<(printf %s "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  createdb --username="$POSTGRES_USER" "$POSTGRES_USER"
  pg_ctl --wait --mode=fast stop
fi
unset POSTGRES_PASSWORD
exec "$@" -c listen_addresses='*'
