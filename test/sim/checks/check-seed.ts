/** Plays a seed twice and names everything that is wrong with it. */
import { createHash } from 'node:crypto';
import { judge } from '../../model/judge.ts';
import type { Scenario } from '../../model/scenario.ts';
import { play, scenarioOf, type Caches, type Play } from '../plays/play.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { forgotten } from './forgotten.ts';
import { overdue } from './liveness.ts';
import { sentFrozen } from './frozen-requests.ts';
import { overtaken } from './lock-order.ts';
import { impatient } from './lock-waits.ts';
import { overlong, overBudget } from './read-budgets.ts';
import { unreasonable } from './reasons.ts';
import { unfounded } from './reads-and-results.ts';
import { seededTape, type Tape } from '../tape.ts';
import { misjudged } from './site-verdicts.ts';
import { unreadGaps } from './unread-gaps.ts';
import { TOKEN, type World } from '../world.ts';

export interface Checked {
  findings: string[];
  play: Play;
}

/** In `npm test`, every second seed is played without caches. */
export const everySecondOff = (seed: number): Caches => (seed % 2 === 0 ? 'off' : 'drawn');

/** @param second the caches of the second play, which costs three times as much without them */
export const checkSeed = (sandboxes: Sandboxes, seed: number, second: Caches = 'off'): Promise<Checked> =>
  check(sandboxes, scenarioOf(seed), () => seededTape(seed), second);

export async function check(
  sandboxes: Sandboxes,
  scenario: Scenario,
  tape: () => Tape,
  second: Caches = 'off',
): Promise<Checked> {
  const first = await play(sandboxes, scenario, tape());
  const findings = findingsOf(first);
  const again = await play(sandboxes, scenario, tape(), second);
  if (second === 'off')
    findings.push(...findingsOf(again).flatMap((it) => (findings.includes(it) ? [] : [`with caches off: ${it}`])));
  if (isSame(first, again)) return { findings, play: first };
  const isRepeatable = second === 'off' && isSame(first, await play(sandboxes, scenario, tape()));
  if (!isRepeatable) findings.push('the same seed played twice differs');
  else findings.push('caches change what happens');
  return { findings, play: first };
}

/** Everything that is wrong with one play. */
export function findingsOf(play: Play): string[] {
  const { world, played } = play;
  const found = [...judge(played).violations, ...unreadGaps(played), ...forgotten(world), ...overdue(play)];
  found.push(...overBudget(world), ...overtaken(world), ...overlong(world), ...unfounded(world), ...unreasonable(play));
  found.push(...impatient(play), ...sentFrozen(play), ...misjudged(world));
  return [...new Set(world.findings), ...found, ...leaks(world)];
}

const isSame = (one: Play, other: Play): boolean => fingerprint(one.world) === fingerprint(other.world);

/** Equal for two plays in which the same happened. */
export function fingerprint({ server, service }: World): string {
  const hash = createHash('sha256');
  for (const { workflowId, runId, history } of server.runs) hash.update(JSON.stringify([workflowId, runId, history]));
  return hash.update(JSON.stringify(service.state.journal)).digest('hex');
}

/** S9: no payload contains the token. */
function leaks({ server }: World): string[] {
  const holding = server.runs.filter(({ history }) => textOf(history).includes(TOKEN));
  return holding.map(({ workflowId }) => `S9: the history of ${workflowId} contains the token`);
}

/** With the bytes of payloads as text. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, it: unknown) => (it instanceof Uint8Array ? Buffer.from(it).toString('latin1') : it));
