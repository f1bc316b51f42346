/** What an event is about, as text. Pure. */
import type { ServiceEvent } from './shapes.ts';

/** `server 12`, `site a1`, `backup 1000`: one entry for each id in the event. @param shown formats an id for display */
export function eventSubjects(
  { serverId, siteId, backupId }: Pick<ServiceEvent, 'serverId' | 'siteId' | 'backupId'>,
  shown: (id: string) => string,
): string[] {
  return Object.entries({ server: serverId, site: siteId, backup: backupId }).flatMap(([what, id]) =>
    id === null ? [] : [`${what} ${shown(id)}`],
  );
}
