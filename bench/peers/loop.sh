#!/bin/sh
# What people have today: curl and sleep in a loop, one process for each wait, and nothing that survives a kill.
# The token comes from curl's configuration on stdin, so no argument list shows it.
deploy="$SERVICE_URL/v1/sites/$1"
ask() {
  printf 'header = "Authorization: Bearer %s"\n' "$SERVICE_TOKEN" | curl --silent --config - "$@"
}
ask --request POST "$deploy/deploy" >/dev/null
made=0
while [ "$made" -lt "$TRIES" ]; do
  sleep "$INTERVAL_SECONDS"
  ask "$deploy/deployments/latest" | grep --quiet --ignore-case 'completed\|failed' && exit 0
  made=$((made + 1))
done
exit 3
