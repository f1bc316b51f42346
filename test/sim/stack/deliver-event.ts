/** Events in virtual time: a delivery is mapped as the receiver maps it, without HTTP and signatures. */
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import type { EventInput, EventResult } from '../../../src/features/events/shapes.ts';
import { EVENT_TYPE } from '../../../src/contract/names.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { eventId } from '../../../src/contract/ids.ts';
import { interpretBody } from '../../../src/webhooks/handle-delivery.ts';
import { fresh } from '../../support/fresh.ts';
import { MAPPING } from '../../support/mapping.ts';
import type { VirtualStack } from './stack.ts';
import type { Run } from '../temporal/types.ts';

/** `panel` proves who it is, `mapped` also names its fields and words, and `open` is not verified. */
type SourceName = 'panel' | 'mapped' | 'open';

export interface Delivery {
  source?: SourceName;
  /** When it happened, according to the sender. Null if the body does not say. Default: when it is received. */
  timestamp?: string | null;
  /** How far the receiver's clock is ahead of Temporal's. */
  aheadMs?: number;
  configuration?: Configuration;
}

/** @returns the workflow that handles it */
export function deliver(
  { world, startByHand }: VirtualStack,
  type: string,
  data: object,
  { source = 'panel', timestamp, aheadMs = 0, configuration = {} }: Delivery = {},
): Run {
  const deliveryId = fresh('msg');
  const receivedAt = new Date(world.clock.nowMs + aheadMs).toISOString();
  const verified = source !== 'open';
  const meaning = source === 'mapped' ? MAPPING : { fields: {}, kinds: {} };
  const body = { type, data, ...(timestamp !== null && { timestamp: timestamp ?? receivedAt }) };
  const input: EventInput = {
    ...{
      source,
      deliveryId,
      verified,
      receivedAt,
      freshForMs: configuration.events?.freshFor ?? TIMING.event.freshForMs,
      body,
    },
    ...interpretBody(body, { ...meaning, isVerified: verified }, configuration),
  };
  return startByHand(EVENT_TYPE, eventId(source, deliveryId), input);
}

/** Lets time pass until the event is handled. */
export const handled = ({ result }: VirtualStack, event: Run): Promise<EventResult> => result<EventResult>(event);
