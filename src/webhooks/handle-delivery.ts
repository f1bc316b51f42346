/** One delivery, from its bytes to what Temporal is given. Knows nothing of HTTP but the headers. */
import { ConfigError } from '../config/environment/environment.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import type { EventInput } from '../contract/event.ts';
import type { EventStore } from '../client/events/event-store.ts';
import { hashedId, isRepeatOf, isUsableId, type HashedId } from './delivery-id.ts';
import { parseBody, type JsonObject } from './parse-body.ts';
import { eventOf, idIn } from './map-event.ts';
import { redacted } from './redact.ts';
import { reactionsTo, type Source } from './sources.ts';
import { headerOf, type Doubt, type Headers } from './verify-signature.ts';

/** Why a delivery is refused: the reasons that are counted. */
export type Refusal = Doubt | 'empty_body' | 'bad_json' | 'bad_id';

/** What a delivery is handed to. */
export type Taking = Pick<EventStore, 'take' | 'takenAtMs'>;

export interface Delivery {
  source: Source;
  headers: Headers;
  body: Buffer;
  receivedMs: number;
}

export type Handled = { refused: Refusal } | { refused: null; event: EventInput; isNew: boolean };

/** @throws what the store throws: then nothing was taken, as far as anybody knows; ConfigError about a secret */
export async function handleDelivery(
  { source, headers, body, receivedMs }: Delivery,
  configuration: Configuration,
  store: Taking,
): Promise<Handled> {
  if (body.length === 0) return { refused: 'empty_body' };
  const { usable: secrets, problem } = await source.secrets();
  const doubt = source.verify === null ? null : source.verify(secrets, headers, body);
  // It may be signed with the one that can't be used: its sender is to come again.
  if (doubt === 'bad_signature' && problem !== null) throw new ConfigError(problem);
  if (doubt !== null) return { refused: doubt };
  const json = parseBody(body);
  if (json === null) return { refused: 'bad_json' };
  const given = givenId(source, headers, json);
  if (given !== null && (!isUsableId(given) || secrets.some((secret) => given.includes(secret)))) {
    return { refused: 'bad_id' };
  }
  const hashed = given === null ? hashedId(body, receivedMs) : null;
  const verified = source.verify !== null;
  const event: EventInput = {
    source: source.name,
    deliveryId: given ?? hashed?.id ?? '',
    verified,
    receivedAt: new Date(receivedMs).toISOString(),
    ...meaningOf(json, { ...source, isVerified: verified }, configuration, secrets),
    body: redacted(json, secrets),
  };
  if (hashed !== null && (await isRepeated(hashed, source.name, receivedMs, store))) {
    return { refused: null, event: { ...event, deliveryId: hashed.before }, isNew: false };
  }
  return { refused: null, event, isNew: await store.take(event) };
}

/** What a body is taken for. */
export function meaningOf(
  body: JsonObject,
  { fields, kinds, isVerified }: Pick<Source, 'fields' | 'kinds'> & { isVerified: boolean },
  configuration: Configuration,
  secrets: readonly string[] = [],
): Pick<EventInput, 'event' | 'reactions'> {
  const event = eventOf(body, { fields, kinds, secrets });
  return { event, reactions: reactionsTo(event.kind, configuration, isVerified) };
}

function givenId({ idHeaders, fields }: Source, headers: Headers, body: JsonObject): string | null {
  const inHeader = idHeaders.map((name) => headerOf(headers, name)).find((id) => id !== null);
  return idIn(body, fields) ?? inHeader ?? null;
}

async function isRepeated({ before }: HashedId, source: string, receivedMs: number, store: Taking) {
  const takenMs = await store.takenAtMs(source, before);
  return takenMs !== null && isRepeatOf(takenMs, receivedMs);
}
