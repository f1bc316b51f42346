/** Gates: what a rollout that begins will have to pass, and single measurements. */
import type { WorkflowRequest } from '../../contract/activities.ts';
import {
  GATES_FACT,
  type GatePlan,
  type GateQuestion,
  type GatesAnswer,
  type Measurement,
  type OnGates,
  type WaveGates,
} from './shapes.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RolloutInput, RolloutWave, TargetResult } from '../rollouts/shapes.ts';
import { isApp, targetsOf } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';
import { messageOf } from '../../contract/message-of.ts';
import type { Fact } from '../../activities/fact.ts';
import type { GetPage } from './worker-measure.ts';
import { measureGate } from './gates.ts';
import type { Policy } from '../../config/policy.ts';
import { GATE_DEFAULTS } from '../../request/limits.ts';
import { leftToOthers, notServed, type Served } from '../../activities/failures.ts';

interface GateDeps {
  served: Served;
  policy: () => Promise<Policy>;
  getPage: GetPage;
}

export const createGates = ({ served, policy, getPage }: GateDeps) => ({
  measureGate: async ({ service, gate, about }: GateQuestion): Promise<Measurement> => {
    const other = notServed({ service }, served);
    if (other !== null) throw leftToOthers('NoSuchGate', other);
    const { gate: gateOf, hostsOf } = await policy();
    const found = gateOf(gate.name);
    if (found === null) throw leftToOthers('NoSuchGate', `this worker's belay.yaml has no gate ${gate.name}`);
    // Its address is not made for what was recorded.
    if (found.plan.rule.kind !== gate.rule.kind)
      throw leftToOthers('NoSuchGate', `this worker's belay.yaml measures gate ${gate.name} in another way`);
    const { siteIds, serverIds, wave, seconds } = about;
    const words = { hosts: hostsOf(siteIds), sites: siteIds, servers: serverIds, wave: [wave], seconds };
    const { text, ...measured } = await measureGate(found, gate.rule, words, getPage);
    return { ...measured, text: plainText(text) };
  },
});

/** Only of a rollout, and if something follows one of its waves. */
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
      const found = await planOf(wave.name, siteIds, name, policy);
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

/** Also those that earlier attempts completed: a retry measures the whole wave. */
function sitesOf({ name, targets }: RolloutWave, previous: readonly TargetResult[]): string[] {
  const left = targets.flatMap((it) => [...targetsOf(it), ...(it.completedTargets ?? [])]);
  const done = previous.filter(({ wave }) => wave === name).flatMap((it) => it.deployments.map(({ target }) => target));
  return [...left, ...done].filter((it) => !isApp(it)).map(({ id }) => id);
}

/** Whatever would keep it from being measured is said before the first server begins. */
async function planOf(
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
