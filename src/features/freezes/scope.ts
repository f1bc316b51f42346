/** Whether an entry of the policy is for a place. Pure. */
import type { Place, Scope } from './sections-rules.ts';

export function isInScope({ fleets, servers, sites, apps, labels = {} }: Scope, place: Place): boolean {
  const named = { site: sites, app: apps };
  const isNamed = place.targets.some(({ kind, id }) => named[kind]?.includes(id));
  return (
    (isNamed || (sites === undefined && apps === undefined)) &&
    (fleets === undefined || (place.fleet !== null && fleets.includes(place.fleet))) &&
    (servers === undefined || place.serverIds.some((it) => servers.includes(it))) &&
    Object.entries(labels).every(([name, value]) => place.labels[name] === value)
  );
}
