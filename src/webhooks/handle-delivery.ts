/** Turns the bytes and headers of a delivery into an event for Temporal. It does not depend on the HTTP server. */
import { createHash } from 'node:crypto';
import { ConfigError } from '../config/environment/variables.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import type { EventInput } from '../features/events/shapes.ts';
import { TIMING } from '../contract/timing.ts';
import { eventId } from '../contract/ids.ts';
import type { EventStore } from '../features/events/client-store.ts';
import type { Accepted } from './coalesce.ts';
import { parseBody, type JsonObject } from './parse-body.ts';
import { eventOf, idIn } from './map-event.ts';
import { redacted } from './redact.ts';
import { namesBackup, reactionsTo, type Source } from './sources.ts';
import { headerOf, type VerificationFailure, type Headers } from './verify-signature.ts';

/** Why a delivery is rejected, as the metrics count it. */
export type Refusal = VerificationFailure | 'empty_body' | 'bad_json' | 'bad_id';

/** What stands between a verified delivery and Temporal. */
export interface Intake {
  /** @returns the milliseconds until this source may have another event, 0 if it may have one now */
  mustWaitMs: () => number;
  accept: (event: EventInput) => Promise<Accepted>;
  acceptedAtMs: EventStore['acceptedAtMs'];
}

export interface ReceivedDelivery {
  source: Source;
  headers: Headers;
  body: Buffer;
  receivedMs: number;
}

export type Handled =
  | { refused: Refusal }
  | { refused: 'too_many'; retryAfterMs: number }
  | ({ refused: null; event: EventInput } & Accepted);

/** @throws the error of the store, if the event may not have been accepted; ConfigError about a secret */
export async function handleDelivery(
  { source, headers, body, receivedMs }: ReceivedDelivery,
  configuration: Configuration,
  intake: Intake,
): Promise<Handled> {
  if (body.length === 0) return { refused: 'empty_body' };
  const { usable: secrets, problem } = await source.secrets();
  const failure = source.verify === null ? null : source.verify(secrets, headers, body);
  // The delivery may be signed with the unusable secret, so make the sender retry.
  if (failure === 'bad_signature' && problem !== null) throw new ConfigError(problem);
  if (failure !== null) return { refused: failure };
  const json = parseBody(body);
  if (json === null) return { refused: 'bad_json' };
  const given = givenId(source, headers, json);
  if (given !== null && (!isUsableId(given) || secrets.some((secret) => given.includes(secret)))) {
    return { refused: 'bad_id' };
  }
  // Check the cap only now, because a sender that proves nothing must not use it up.
  const retryAfterMs = intake.mustWaitMs();
  if (retryAfterMs > 0) return { refused: 'too_many', retryAfterMs };
  const { id, before } = given === null ? hashedId(body, receivedMs) : { id: given, before: null };
  const verified = source.verify !== null;
  const meaning = interpretBody(json, { ...source, isVerified: verified }, configuration, secrets);
  const event: EventInput = {
    source: source.name,
    deliveryId: id,
    verified,
    receivedAt: new Date(receivedMs).toISOString(),
    freshForMs: freshForMs(meaning.event.at, source, receivedMs, configuration),
    ...meaning,
    body: redacted(json, secrets),
  };
  if (before !== null && (await isRepeated(before, source.name, receivedMs, intake))) {
    return { refused: null, event, id: eventId(source.name, before), isNew: false, isCoalesced: false };
  }
  return { refused: null, event, ...(await intake.accept(event)) };
}

export function interpretBody(
  body: JsonObject,
  { fields, kinds, isVerified }: Pick<Source, 'fields' | 'kinds'> & { isVerified: boolean },
  configuration: Configuration,
  secrets: readonly string[] = [],
): Pick<EventInput, 'event' | 'reactions'> {
  const event = eventOf(body, { fields, kinds, secrets });
  const understood = { kind: event.kind, isVerified, namesBackup: namesBackup({ fields, kinds }, event.rawKind) };
  return { event, reactions: reactionsTo(understood, configuration) };
}

function givenId({ idHeaders, fields }: Source, headers: Headers, body: JsonObject): string | null {
  const inHeader = idHeaders.map((name) => headerOf(headers, name)).find((id) => id !== null);
  return idIn(body, fields) ?? inHeader ?? null;
}

/** A time found by a likely name may belong to something else, such as the server's creation. */
function freshForMs(at: string | null, { fields }: Source, receivedMs: number, { events }: Configuration): number {
  const ageMs = at === null || fields.time === undefined ? 0 : Math.max(0, receivedMs - Date.parse(at));
  return (events?.freshFor ?? TIMING.event.freshForMs) - ageMs;
}

async function isRepeated(before: string, source: string, receivedMs: number, intake: Intake) {
  const acceptedMs = await intake.acceptedAtMs(source, before);
  return acceptedMs !== null && isRepeatOf(acceptedMs, receivedMs);
}

/* Makes ids that tell repeated deliveries from new ones. Pure. */

/** Ids for a delivery without one. An equal body within ten minutes is a repeat, a later one is new. */
interface HashedId {
  id: string;
  /** The id in the previous window. If it was accepted less than ten minutes ago, it is the same delivery. */
  before: string;
}

export function hashedId(body: Buffer, receivedMs: number): HashedId {
  const hash = createHash('sha256').update(body).digest('hex');
  const window = Math.floor(receivedMs / TIMING.webhooks.duplicateWindowMs);
  return { id: `sha256-${hash}-${window}`, before: `sha256-${hash}-${window - 1}` };
}

/** True if a delivery received now repeats one accepted at `acceptedMs`. */
export const isRepeatOf = (acceptedMs: number, receivedMs: number): boolean =>
  receivedMs - acceptedMs < TIMING.webhooks.duplicateWindowMs;

/** True if a sender's id can be part of a workflow id. */
export const isUsableId = (id: string): boolean => /^[\x21-\x7e]{1,256}$/.test(id);
