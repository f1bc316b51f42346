/**
 * Identifies a service: scheme, host, port and path of its URL, plus `#account` where one URL serves several accounts.
 * Whatever passes from one run to another compares identities, because ids such as `12` exist at every service. Pure.
 */

export interface ServedService {
  service: string;
  /** Identities that the same service had before it moved. */
  formerly: readonly string[];
}

/** @param baseUrl without a slash at the end */
export function serviceIdentity(baseUrl: string, account: string | null): string {
  return account === null ? baseUrl : `${baseUrl}#${account}`;
}

/** Use this for the address of a service in belay.yaml, which may name its account itself. */
export function withAccount(identity: string, account: string | null): string {
  return identity.includes('#') ? identity : serviceIdentity(identity, account);
}

/** @param account null admits any */
export const isOfAccount = (identity: string, account: string | null): boolean =>
  account === null || identity === serviceIdentity(identity.split('#', 1)[0]!, account);

/** True if a message about a service concerns a run of `served`. Older messages name no service. */
export function concernsService(identities: unknown, served: ServedService): boolean {
  return !Array.isArray(identities) || identities.some((identity) => isServed(identity as string, served));
}

/** Returns every identity that the service has or had. */
export const identitiesOf = ({ service, formerly }: ServedService): string[] => [service, ...formerly];

export function isServed(recorded: string, { service, formerly }: ServedService): boolean {
  return recorded === service || formerly.includes(recorded);
}

/*
 * Epochs: a restored Temporal database has forgotten what was sent, so runs from before the restore send nothing.
 * People and `belay doctor` recognize such an end by its text. Pure.
 */

const OTHER_EPOCH = 'and BELAY_EPOCH is now';
export const MAYBE_RESTORED = 'Temporal may have been restored meanwhile';

export const isFromRestore = (message: string): boolean =>
  message.includes(OTHER_EPOCH) || message.includes(MAYBE_RESTORED);

/** What a run or rollout knows about its epoch. */
export interface EpochFacts {
  /** The epoch that its starter saw. */
  epoch?: string | undefined;
  beganMs: number;
}

/** Returns why the work may have been done before a restore, or null. @param current the workers' epoch */
export function otherEpoch({ epoch, beganMs }: EpochFacts, current: string): string | null {
  if (epoch !== undefined) return epoch === current ? null : restored(`in epoch ${epoch}`, current);
  const sinceMs = beginOf(current);
  if (sinceMs === null || beganMs >= sinceMs) return null;
  return restored(`at ${new Date(beganMs).toISOString()}`, current);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/;

/** An epoch that is a time also covers runs that recorded no epoch. */
function beginOf(epoch: string): number | null {
  const beginMs = INSTANT.test(epoch) ? Date.parse(epoch) : NaN;
  return Number.isNaN(beginMs) ? null : beginMs;
}

function restored(when: string, current: string): string {
  return (
    `nothing was sent: this began ${when}, ${OTHER_EPOCH} ${current}, so Temporal's database was restored ` +
    'since: check at the service whether it was done, then start a new run'
  );
}
