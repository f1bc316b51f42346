/** Hands an event over as the receiver does. */
import type { EventInput, Reaction, ServiceEvent } from '../../src/features/events/shapes.ts';
import { eventId } from '../../src/contract/ids.ts';
import { EVENT_TYPE, eventTaskQueue } from '../../src/contract/names.ts';
import { fresh } from '../support/fresh.ts';
import { TASK_QUEUE } from '../support/world.ts';
import type { Stage } from './stage.ts';

const SOURCE = 'panel';

/** @returns the id of the event, once it is handled */
export async function deliver({ client }: Stage, about: Partial<ServiceEvent>, reactions: Reaction[]): Promise<string> {
  const deliveryId = fresh('msg');
  const kind = about.kind ?? 'unknown';
  const nothing = { serverId: null, siteId: null, backupId: null, at: null };
  const input: EventInput = {
    ...{ source: SOURCE, deliveryId, verified: true, receivedAt: new Date().toISOString(), freshForMs: 900_000 },
    event: { ...nothing, ...about, kind, rawKind: kind },
    ...{ reactions, body: {} },
  };
  const workflowId = eventId(SOURCE, deliveryId);
  const taskQueue = eventTaskQueue(TASK_QUEUE);
  await client.workflow.execute(EVENT_TYPE, { workflowId, taskQueue, args: [input] });
  return workflowId;
}
