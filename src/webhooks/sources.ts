/** The senders in belay.yaml: how to verify each one, and how to read its deliveries. */
import { ConfigError } from '../config/environment/config-error.ts';
import { EVENT_KIND_TABLE } from '../features/events/config.ts';
import type { Configuration, SourceConfig } from '../config/file/file-schema.ts';
import type { EventKind, Reaction } from '../features/events/shapes.ts';
import { normalizeStatus } from '../rules/status-word.ts';
import type { KindWords } from './match-kind.ts';
import { DEFAULT_PER_MINUTE } from './rate-cap.ts';
import type { Fields } from './map-event.ts';
import { hmacForm, secretsIn, standardForm, type Secrets } from './signing-secrets.ts';
import { verifyHmac, verifyStandard, type Verifier } from './verify-signature.ts';

export interface Source {
  name: string;
  /** Null accepts every sender unverified. */
  verify: Verifier | null;
  secrets: () => Promise<Secrets>;
  /** Headers that may hold the delivery's id; the first one present is used. */
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
  const form = config.verify === 'standard-webhooks' ? standardForm : hmacForm;
  const secrets = secretsIn(`events.sources.${name}.secrets`, config.secrets, form);
  if (config.verify === 'standard-webhooks') return standardSource(name, secrets, meaning);
  return { ...meaning, secrets, verify: verifyHmac(config), idHeaders: [], ...idHeader(config.idHeader) };
}

/** A source that signs by Standard Webhooks; its fields are found by likely names. */
export function standardSource(
  name: string,
  secrets: Source['secrets'],
  { fields, kinds, maxPerMinute = DEFAULT_PER_MINUTE }: Pick<Source, 'fields' | 'kinds'> & { maxPerMinute?: number },
): Source {
  return { name, secrets, verify: verifyStandard, idHeaders: ['webhook-id'], maxPerMinute, fields, kinds };
}

const idHeader = (name: string | undefined) => (name === undefined ? {} : { idHeaders: [name] });

/** How one delivery was understood, as far as reactions depend on it. */
export interface Understood {
  kind: EventKind;
  /** An unverified sender can only cause reads and notifications. */
  isVerified: boolean;
  /** Whether belay.yaml, and not a likely name, shows that this is a backup of that server. */
  namesBackup: boolean;
}

export function reactionsTo({ kind, isVerified, namesBackup }: Understood, configuration: Configuration): Reaction[] {
  const reactions: readonly Reaction[] = configuration.events?.reactions?.[kind] ?? EVENT_KIND_TABLE[kind].reactions;
  return reactions.filter((reaction) => (isVerified || reaction === 'notify') && (namesBackup || reaction !== 'share'));
}

/** What `share` needs: a run must not rest on a backup that was guessed to be one of its server. */
export const SHARE_NEEDS = "the source's fields.server, fields.backup and the sender's word in kinds['backup.started']";

export function namesBackup({ fields, kinds }: Pick<Source, 'fields' | 'kinds'>, rawKind: string | null): boolean {
  if (fields.server === undefined || fields.backup === undefined || rawKind === null) return false;
  return kinds['backup.started']?.some((word) => normalizeStatus(word) === normalizeStatus(rawKind)) ?? false;
}
