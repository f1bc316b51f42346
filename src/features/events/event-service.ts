/** Which service the events of a receiver are of. */
import { findService } from '../../client/find-service.ts';
import type { Session } from '../../client/session.ts';
import { identitiesOf } from '../../client/workers.ts';
import { TIMING } from '../../contract/timing.ts';

/** Floods ask often, so an answer holds for a while. @returns a function that returns null if it is unknown */
export function createEventService(
  session: Session,
  clock: () => number = () => performance.now(),
): () => Promise<string | null> {
  let last = { atMs: -Infinity, answer: Promise.resolve<string | null>(null) };
  return () => {
    const nowMs = clock();
    if (nowMs - last.atMs >= TIMING.event.serviceKnownForMs) last = { atMs: nowMs, answer: eventService(session) };
    return last.answer;
  };
}

/** Workers handle an event that names no service as one of their own. */
async function eventService(session: Session): Promise<string | null> {
  const { client } = session;
  // Workers matter only where nothing is configured.
  const configured = await findService(session, []).catch(() => null);
  if (configured !== null) return configured.service;
  const deadlineMs = Date.now() + TIMING.client.storeEventMs;
  return client
    .withDeadline(deadlineMs, () => session.workers())
    .then((seen) => findService(session, identitiesOf(seen)))
    .then((found) => found?.service ?? null)
    .catch(() => null);
}
