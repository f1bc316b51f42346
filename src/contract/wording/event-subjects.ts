/** What an event names, in words. Pure. */
import type { ServiceEvent } from '../event.ts';

/** `server 12`, `site a1`, `backup 1000`, of those that it names. @param shown an id as the place can show it */
export function namesIn(
  { serverId, siteId, backupId }: Pick<ServiceEvent, 'serverId' | 'siteId' | 'backupId'>,
  shown: (id: string) => string,
): string[] {
  return Object.entries({ server: serverId, site: siteId, backup: backupId }).flatMap(([what, id]) =>
    id === null ? [] : [`${what} ${shown(id)}`],
  );
}
