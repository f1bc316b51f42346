/** The senders that belay.yaml names: how each is verified, and what its deliveries mean. */
import { ConfigError, secretSource } from '../config.ts';
import type { Configuration, ReactionConfig, SourceConfig } from '../configuration/schema.ts';
import type { EventKind, Reaction } from '../event-contract.ts';
import type { KindWords } from './kinds.ts';
import type { Fields } from './mapping.ts';
import { verifyHmac, verifyStandard, type Verifier } from './verify.ts';

export interface Source {
  name: string;
  /** Null: nobody has to prove anything. */
  verify: Verifier | null;
  /** Those that are valid now. @throws ConfigError */
  secrets: () => Promise<string[]>;
  /** Headers that may hold the delivery's id, the first one that is there counts. */
  idHeaders: readonly string[];
  fields: Fields;
  kinds: KindWords;
}

/** Where nothing is configured: any name is a source, on this machine alone. */
export const OPEN_SOURCE: Omit<Source, 'name'> = {
  verify: null,
  secrets: () => Promise.resolve([]),
  idHeaders: ['webhook-id', 'x-webhook-id', 'x-delivery-id', 'x-event-id', 'x-request-id'],
  fields: {},
  kinds: {},
};

/** @throws ConfigError where a secret is missing or can be none */
export async function readSources(configuration: Configuration): Promise<Map<string, Source>> {
  const sources = new Map<string, Source>();
  for (const [name, config] of Object.entries(configuration.events?.sources ?? {})) {
    const source = sourceOf(name, config);
    const secrets = await source.secrets();
    if (config.verify === 'standard-webhooks' && !secrets.every(isStandardSecret)) {
      const remedy = 'write it as the sender shows it, whsec_ and the base64 of 24 to 64 bytes';
      throw new ConfigError(
        `events.sources.${name}.secrets: what stands there is no Standard Webhooks secret: ${remedy}`,
      );
    }
    sources.set(name, source);
  }
  return sources;
}

function isStandardSecret(secret: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return base64.length % 4 === 0 && length >= 24 && length <= 64;
}

function sourceOf(name: string, config: SourceConfig): Source {
  const { fields = {}, kinds = {} } = config;
  const meaning = { name, fields, kinds };
  if (config.verify === 'none') return { ...OPEN_SOURCE, ...meaning, ...idHeader(config.idHeader) };
  const places = config.secrets.map((place, index) => secretSource(`events.sources.${name}.secrets.${index}`, place));
  const secrets = () => Promise.all(places.map((read) => read()));
  if (config.verify === 'standard-webhooks') return { ...standardSource(name, secrets), ...meaning };
  return { ...meaning, secrets, verify: verifyHmac(config), idHeaders: [], ...idHeader(config.idHeader) };
}

/** One that signs by Standard Webhooks, with likely names for what its bodies hold. */
export function standardSource(name: string, secrets: Source['secrets']): Source {
  return { name, secrets, verify: verifyStandard, idHeaders: ['webhook-id'], fields: {}, kinds: {} };
}

const idHeader = (name: string | undefined) => (name === undefined ? {} : { idHeaders: [name] });

const DEFAULT_REACTIONS: Required<{ [K in keyof ReactionConfig]: NonNullable<ReactionConfig[K]> }> = {
  'alert.fired': ['hold', 'notify'],
  'backup.started': ['share'],
  'backup.failed': ['end-wait', 'notify'],
  'resource.deleted': ['end-wait', 'hold', 'notify'],
  unknown: [],
};

export function reactionsTo(kind: EventKind, configuration: Configuration): Reaction[] {
  return [...(configuration.events?.reactions?.[kind] ?? DEFAULT_REACTIONS[kind])];
}
