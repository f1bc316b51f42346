/** The senders that belay.yaml names: how each is verified, and what its deliveries mean. */
import { ConfigError } from '../config/environment/environment.ts';
import type { Configuration, ReactionConfig, SourceConfig } from '../config/file/file-schema.ts';
import type { EventKind, Reaction } from '../contract/event.ts';
import type { KindWords } from './match-kind.ts';
import type { Fields } from './map-event.ts';
import { hmacForm, secretsIn, standardForm, type Secrets } from './signing-secrets.ts';
import { verifyHmac, verifyStandard, type Verifier } from './verify-signature.ts';

export interface Source {
  name: string;
  /** Null: nobody has to prove anything. */
  verify: Verifier | null;
  secrets: () => Promise<Secrets>;
  /** Headers that may hold the delivery's id, the first one that is there counts. */
  idHeaders: readonly string[];
  fields: Fields;
  kinds: KindWords;
}

/** Where nothing is configured: any name is a source, on this machine alone. */
export const OPEN_SOURCE: Omit<Source, 'name'> = {
  verify: null,
  secrets: () => Promise.resolve({ usable: [], problem: null }),
  idHeaders: ['webhook-id', 'x-webhook-id', 'x-delivery-id', 'x-event-id', 'x-request-id'],
  fields: {},
  kinds: {},
};

/** @throws ConfigError where a secret is missing or can be none */
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
  const { fields = {}, kinds = {} } = config;
  const meaning = { name, fields, kinds };
  if (config.verify === 'none') return { ...OPEN_SOURCE, ...meaning, ...idHeader(config.idHeader) };
  const form = config.verify === 'standard-webhooks' ? standardForm : hmacForm;
  const secrets = secretsIn(`events.sources.${name}.secrets`, config.secrets, form);
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

/** @param isVerified who proved nothing may wake and be told of, and that is all */
export function reactionsTo(kind: EventKind, configuration: Configuration, isVerified: boolean): Reaction[] {
  const reactions: readonly Reaction[] = configuration.events?.reactions?.[kind] ?? DEFAULT_REACTIONS[kind];
  return reactions.filter((reaction) => isVerified || reaction === 'notify');
}
