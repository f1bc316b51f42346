/** The senders in belay.yaml: how to verify each one, and how to read its deliveries. */
import { ConfigError } from '../config/environment/variables.ts';
import { EVENT_KIND_TABLE, type SourceConfig } from '../features/events/config.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import type { EventKind, Reaction } from '../features/events/shapes.ts';
import { normalizeStatus } from '../rules/status-words.ts';
import type { KindWords, Fields } from './map-event.ts';
import { DEFAULT_PER_MINUTE } from './rate-cap.ts';
import { verifyHmac, verifyStandard, type Verifier } from './verify-signature.ts';
import { problemOfStandardSecret, secretSource, type SecretRef } from '../config/environment/secrets.ts';

export interface Source {
  name: string;
  /** Null if every sender is accepted unverified. */
  verify: Verifier | null;
  secrets: () => Promise<Secrets>;
  /** Headers that may hold the delivery's id. The first header that is present counts. */
  idHeaders: readonly string[];
  fields: Fields;
  kinds: KindWords;
  maxPerMinute: number;
}

/** Used when no source is configured: accepts any name, but only from this machine. */
export const UNVERIFIED_SOURCE: Omit<Source, 'name'> = {
  verify: null,
  secrets: () => Promise.resolve({ usable: [], problem: null }),
  idHeaders: ['webhook-id', 'x-webhook-id', 'x-delivery-id', 'x-event-id', 'x-request-id'],
  fields: {},
  kinds: {},
  maxPerMinute: DEFAULT_PER_MINUTE,
};

/** @throws ConfigError if a secret is missing or invalid */
export async function readSources(configuration: Configuration): Promise<Map<string, Source>> {
  const sources = new Map<string, Source>();
  for (const [name, config] of Object.entries(configuration.events?.sources ?? {})) {
    const source = sourceOf(name, config);
    const { problem } = await source.secrets();
    if (problem !== null) throw new ConfigError(problem);
    sources.set(name, source);
  }
  return sources;
}

function sourceOf(name: string, config: SourceConfig): Source {
  const { fields = {}, kinds = {}, maxPerMinute = DEFAULT_PER_MINUTE } = config;
  const meaning = { name, fields, kinds, maxPerMinute };
  if (config.verify === 'none') return { ...UNVERIFIED_SOURCE, ...meaning, ...idHeader(config.idHeader) };
  const problemOf = config.verify === 'standard-webhooks' ? problemOfStandardSecret : problemOfHmacSecret;
  const secrets = secretsIn(`events.sources.${name}.secrets`, config.secrets, problemOf);
  if (config.verify === 'standard-webhooks') return standardSource(name, secrets, meaning);
  return { ...meaning, secrets, verify: verifyHmac(config), idHeaders: [], ...idHeader(config.idHeader) };
}

/** Makes a source that signs by Standard Webhooks. Its fields are found by likely names unless they are given. */
export function standardSource(
  name: string,
  secrets: Source['secrets'],
  { fields, kinds, maxPerMinute = DEFAULT_PER_MINUTE }: Pick<Source, 'fields' | 'kinds'> & { maxPerMinute?: number },
): Source {
  return { name, secrets, verify: verifyStandard, idHeaders: ['webhook-id'], maxPerMinute, fields, kinds };
}

const idHeader = (name: string | undefined) => (name === undefined ? {} : { idHeaders: [name] });

/** How a delivery was understood, as far as reactions depend on it. */
export interface Understood {
  kind: EventKind;
  /** An unverified sender can only cause reads and notifications. */
  isVerified: boolean;
  /** True if belay.yaml, and not a likely name, shows that this is a backup of that server. */
  namesBackup: boolean;
}

export function reactionsTo({ kind, isVerified, namesBackup }: Understood, configuration: Configuration): Reaction[] {
  const reactions: readonly Reaction[] = configuration.events?.reactions?.[kind] ?? EVENT_KIND_TABLE[kind].reactions;
  return reactions.filter((reaction) => (isVerified || reaction === 'notify') && (namesBackup || reaction !== 'share'));
}

/** What `share` needs. A run must not rely on a backup that was only guessed to be one of its server. */
export const SHARE_NEEDS = "the source's fields.server, fields.backup and the sender's word in kinds['backup.started']";

export function namesBackup({ fields, kinds }: Pick<Source, 'fields' | 'kinds'>, rawKind: string | null): boolean {
  if (fields.server === undefined || fields.backup === undefined || rawKind === null) return false;
  return kinds['backup.started']?.some((word) => normalizeStatus(word) === normalizeStatus(rawKind)) ?? false;
}

/* The secrets that senders sign with. They are read for every delivery, so rotating one needs no restart. */

interface Secrets {
  usable: string[];
  /** Why one of the secrets is unusable. Null if all are usable. */
  problem: string | null;
}

const problemOfHmacSecret = (secret: string): string | null =>
  /^.{16,}$/.test(secret) ? null : 'the secret is too weak: use one line of at least 16 characters';

/**
 * @param problemOf describes what is wrong with a secret and how to fix it, or returns null
 * @throws ConfigError at once if a variable is not set
 */
function secretsIn(
  key: string,
  places: readonly SecretRef[],
  problemOf: (secret: string) => string | null,
): () => Promise<Secrets> {
  const reads = places.map((place, index) => [`${key}.${index}`, secretSource(`${key}.${index}`, place)] as const);
  return async () => {
    const secrets: Secrets = { usable: [], problem: null };
    for (const [place, read] of reads) {
      try {
        const secret = await read();
        const problem = problemOf(secret);
        if (problem === null) secrets.usable.push(secret);
        else secrets.problem ??= `${place}: ${problem}`;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        secrets.problem ??= error.message;
      }
    }
    return secrets;
  };
}
