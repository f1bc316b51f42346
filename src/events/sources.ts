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
    try {
      source.verify?.(secrets, PROBE, Buffer.alloc(0));
    } catch {
      throw new ConfigError(`events.sources.${name}.secrets: a Standard Webhooks secret is whsec_ and base64`);
    }
    sources.set(name, source);
  }
  return sources;
}

/** Nobody's signature: a secret that can be none is found out with it. */
const PROBE = { 'webhook-id': 'probe', 'webhook-timestamp': '0', 'webhook-signature': 'v1,none' };

function sourceOf(name: string, config: SourceConfig): Source {
  const { fields = {}, kinds = {} } = config;
  const meaning = { name, fields, kinds };
  if (config.verify === 'none') return { ...OPEN_SOURCE, ...meaning, ...idHeader(config.idHeader) };
  const places = config.secrets.map((place, index) => secretSource(`events.sources.${name}.secrets.${index}`, place));
  const secrets = () => Promise.all(places.map((read) => read()));
  if (config.verify === 'standard-webhooks') {
    return { ...meaning, secrets, verify: verifyStandard, idHeaders: ['webhook-id'] };
  }
  return { ...meaning, secrets, verify: verifyHmac(config), idHeaders: [], ...idHeader(config.idHeader) };
}

const idHeader = (name: string | undefined) => (name === undefined ? {} : { idHeaders: [name] });

const DEFAULT_REACTIONS: Required<{ [K in keyof ReactionConfig]: NonNullable<ReactionConfig[K]> }> = {
  'alert.fired': ['notify'],
  'backup.started': ['share'],
  'backup.failed': ['end-wait', 'notify'],
  'resource.deleted': ['end-wait', 'notify'],
  unknown: [],
};

export function reactionsTo(kind: EventKind, configuration: Configuration): Reaction[] {
  return [...(configuration.events?.reactions?.[kind] ?? DEFAULT_REACTIONS[kind])];
}
