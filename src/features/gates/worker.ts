/** Tells a starting rollout which gates it will have to pass, and makes single measurements. */
import type { WorkflowRequest } from '../../contract/activities.ts';
import {
  GATES_FACT,
  type GatePlan,
  type GateQuestion,
  type GateSubject,
  type GatesAnswer,
  type Measurement,
  type OnGates,
  type WaveGates,
  type GateRule,
} from './shapes.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RolloutInput, RolloutWave, TargetResult } from '../rollouts/shapes.ts';
import { isApp, targetsOf } from '../../contract/target.ts';
import { plainText, messageOf } from '../../contract/safe-text.ts';
import type { Fact } from '../../activities/fact.ts';
import { measure, wordsIn, type GatePlace, type Word } from './worker-measure.ts';
import type { Policy } from '../../config/policy.ts';
import { GATE_DEFAULTS } from '../../request/limits.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { leftToOthers, notServed } from '../../activities/failures.ts';
import { checkAddress, secretSource } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import { type GateConfig, gatePace } from './config.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import { hashOf } from '../../contract/canonical-json.ts';
import { headersSource } from '../../config/file/request-schema.ts';

type GateDeps = Pick<ActivityDeps, 'workerInfo' | 'policy' | 'getPage'>;

export const createGates = ({ workerInfo, policy, getPage }: GateDeps) => ({
  measureGate: async ({ service, gate, about }: GateQuestion): Promise<Measurement> => {
    const other = notServed({ service }, workerInfo);
    if (other !== null) throw leftToOthers('NoSuchGate', other);
    const { gate: gateOf, hostsOf } = await policy();
    const found = gateOf(gate.name);
    if (found === null) throw leftToOthers('NoSuchGate', `this worker's belay.yaml has no gate ${gate.name}`);
    // Its address would not answer the recorded kind of rule.
    if (found.plan.rule.kind !== gate.rule.kind)
      throw leftToOthers('NoSuchGate', `this worker's belay.yaml measures gate ${gate.name} in another way`);
    return measureByRule(found, gate.rule, about, { hostsOf, getPage });
  },
});

/** Answered only for rollouts with gates or a bake time after a wave. */
export const gatesFact: Fact<GatesAnswer> = {
  ...GATES_FACT,
  ask: ({ request }, { policy }) => gatesOf(request, policy),
};

async function gatesOf({ type, input }: WorkflowRequest, policy: Policy): Promise<GatesAnswer | undefined> {
  if (type !== ROLLOUT_TYPE) return undefined;
  const { waves, onGates = {}, onFailures, previousResults = [] } = input as RolloutInput;
  const gated = waves.filter(({ after }) => after !== undefined);
  if (gated.length === 0) return undefined;
  const planned: WaveGates[] = [];
  for (const wave of gated) {
    const { bakeMs = 0, gates: names = [] } = wave.after ?? {};
    const siteIds = sitesOf(wave, previousResults);
    const gates: GatePlan[] = [];
    for (const name of names) {
      const found = await gatePlanFor(wave.name, siteIds, name, policy);
      if ('error' in found) return { error: { type: 'Refused', message: plainText(found.error) } };
      gates.push(found);
    }
    planned.push({ wave: wave.name, bakeMs, gates });
  }
  return { waves: planned, on: defaultsOf(onGates, onFailures) };
}

const defaultsOf = (on: OnGates, onFailures: RolloutInput['onFailures']): Required<OnGates> => ({
  failed: on.failed ?? onFailures,
  inconclusive: on.inconclusive ?? 'pause',
  patienceMs: on.patienceMs ?? GATE_DEFAULTS.patience,
});

/** Includes sites that earlier attempts completed, because a retry measures the whole wave. */
export function sitesOf({ name, targets }: RolloutWave, previous: readonly TargetResult[] = []): string[] {
  const left = targets.flatMap((it) => [...targetsOf(it), ...(it.completedTargets ?? [])]);
  const done = previous.filter(({ wave }) => wave === name).flatMap((it) => it.deployments.map(({ target }) => target));
  return [...left, ...done].filter((it) => !isApp(it)).map(({ id }) => id);
}

/** Finds before the first server begins whatever would prevent a measurement. */
async function gatePlanFor(
  wave: string,
  siteIds: string[],
  name: string,
  policy: Policy,
): Promise<GatePlan | { error: string }> {
  const found = policy.gate(name);
  if (found === null) return { error: `the worker has no gate "${name}": add it to gates: in its belay.yaml` };
  try {
    await found.place();
  } catch (error) {
    return { error: messageOf(error) };
  }
  const words = new Set(found.plan.words);
  const without = (what: string) => ({ error: `gate "${name}" asks for ${what}` });
  if (words.has('sites') && siteIds.length === 0) return without(`$sites, and wave "${wave}" deploys none`);
  if (words.has('hosts') && policy.hostsOf(siteIds).length === 0)
    return without(`$hosts, and sites: in the worker's belay.yaml has no url of wave "${wave}"`);
  return found.plan;
}

/* The gates of a policy, ready to be measured. */

export interface PolicyGate {
  plan: GatePlan;
  /**
   * Reads the address and its headers again. @throws ConfigError if one is missing; the message names only where it
   * should be
   */
  place: () => Promise<GatePlace>;
}

const HASH_LENGTH = 12;

export const gatesPolicy = ({ gates = {}, sites = {} }: Configuration) => ({
  /** Null if belay.yaml has none with this name. */
  gate: (name: string): PolicyGate | null => {
    const gate = ownEntry(gates, name);
    return gate === undefined ? null : { plan: planOf(name, gate), place: () => placeOf(name, gate) };
  },
  /** The host names of those sites that belay.yaml knows. */
  hostsOf: (siteIds: readonly string[]): string[] => {
    const known = siteIds.flatMap((id) => ownEntry(sites, id) ?? []);
    return [...new Set(known.map(({ url }) => new URL(url).hostname))];
  },
});

function planOf(name: string, gate: GateConfig): GatePlan {
  const { initialDelay = 0, failures = 0, dryRun = false } = gate;
  const { interval: intervalMs, tries, inARow } = gatePace(gate);
  const rule = ruleOf(gate);
  return {
    name,
    rule,
    ruleHash: hashOf(rule).slice(0, HASH_LENGTH),
    words: wordsOf(rule),
    initialDelayMs: initialDelay,
    intervalMs,
    tries,
    inARow,
    failures,
    dryRun,
  };
}

/** Reading the file already checked which keys go together. */
function ruleOf({ query, status, header, body, json, value, min, max, atLeast }: GateConfig): GateRule {
  const rule = definedFields({ query, status, header, body, json, value, min, max, atLeast });
  return { kind: query === undefined ? 'http' : 'prometheus', ...rule } as GateRule;
}

async function placeOf(name: string, { prometheus, url, token, requestHeaders = {} }: GateConfig): Promise<GatePlace> {
  const key = `gates.${name}`;
  const [at, place] = prometheus === undefined ? [`${key}.url`, url!] : [`${key}.prometheus`, prometheus];
  const isSecret = typeof place !== 'string';
  const address = isSecret ? await secretSource(at, place)() : place;
  const bearer = token === undefined ? null : await secretSource(`${key}.token`, token)();
  const own = await headersSource(`${key}.requestHeaders`, requestHeaders)();
  const headers = bearer === null ? own : { ...own, authorization: `Bearer ${bearer}` };
  // What is measured often has no TLS, and needs none unless a secret goes there.
  const mustBeSafe = isSecret || Object.keys(headers).length > 0;
  return { address: mustBeSafe ? checkAddress(at, address) : address, ...(isSecret ? { isSecret } : {}), headers };
}

/** @throws ConfigError if the address of a gate, its token or a header is missing */
export async function requireGates({ gates = {} }: Configuration): Promise<void> {
  for (const [name, gate] of Object.entries(gates)) await placeOf(name, gate);
}

const wordsOf = (rule: GateRule): Word[] =>
  rule.kind === 'prometheus'
    ? [...new Set([rule.query, ...(rule.atLeast === undefined ? [] : [rule.atLeast.query])].flatMap(wordsIn))]
    : [];

/** @param rule as it was recorded, so that a rollout in flight keeps its numbers */
export async function measureByRule(
  { place }: PolicyGate,
  rule: GateRule,
  { siteIds, serverIds, wave, seconds }: GateSubject,
  { hostsOf, getPage }: Pick<Policy, 'hostsOf'> & Pick<GateDeps, 'getPage'>,
): Promise<Measurement> {
  const words = { hosts: hostsOf(siteIds), sites: siteIds, servers: serverIds, wave: [wave], seconds };
  const { text, ...measured } = await measure(rule, words, await place(), getPage);
  return { ...measured, text: plainText(text) };
}
