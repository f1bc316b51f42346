/** Plays one rollout, its decisions and everything that goes wrong with it, from a tape. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { HOLD_SIGNAL } from '../../../src/contract/names.ts';
import type { RolloutInput } from '../../../src/features/rollouts/shapes.ts';
import { passedUnmeasured } from '../checks/gated-waves.ts';
import { unruly } from '../checks/rollouts.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { searchAttribute } from '../stack/inspect.ts';
import type { Caches } from './play.ts';
import { drawGate, GATES, showReadings } from './rollout-gates.ts';
import { requestUpdate, startRollout, type DecisionName } from './start-rollout.ts';
import type { Tape } from '../tape.ts';
import type { Run } from '../temporal/types.ts';
import { createWorld, START_MS, type World } from '../world.ts';

export interface RolloutPlay {
  world: World;
  rollout: Run;
  findings: string[];
}

const LIMIT_MS = 24 * 3_600_000;
const USER_LOOKS_MS = 60_000;
const OPERATOR = { by: 'operator', reason: 'looked at it' };

const target = (index: number) => ({ serverId: `s${index}`, siteIds: [`a${index}`] });
const WAVES: RolloutInput['waves'] = [
  { name: 'canary', targets: [1, 2].map(target) },
  { name: 'rest', targets: [3, 4, 5].map(target) },
];
const SERVERS = WAVES.flatMap(({ targets }) => targets.map(({ serverId }) => serverId));
const AT_ONCE = [2, 1, 3];
const ON_FAILURES = ['pause', 'stop'] as const;

export async function playRollout(sandboxes: Sandboxes, tape: Tape, caches: Caches): Promise<RolloutPlay> {
  const world = createWorld(sandboxes, tape, {
    ...{ workers: 1 + tape.choose('workers', 2), crashes: 2 * tape.choose('crashes', 2), stalls: 0, clockSpreadMs: 0 },
    cacheSize: caches === 'off' ? 0 : 1_000,
    defaults: { backup: { durationMs: 60_000 }, deployment: { durationMs: 30_000 } },
    notify: { on: 'all', channels: ['ops'], heartbeats: [] },
    configuration: GATES,
  });
  const readings = showReadings(world, tape);
  const { clock, server, service } = world;
  for (const siteId of SERVERS.map((_, index) => `a${index + 1}`))
    if (tape.choose('fails', 3) === 2)
      service.state.script({ type: 'site', id: siteId }, [{ durationMs: 30_000, ends: 'failed' }]);
  const rollout = startRollout(server, {
    ...{ name: 'steady', fleet: 'shop', key: 'k1', ...drawGate(tape, WAVES) },
    maxAtOnce: AT_ONCE[tape.choose('at once', AT_ONCE.length)]!,
    maxFailures: tape.choose('failures', 3),
    onFailures: ON_FAILURES[tape.choose('on failures', ON_FAILURES.length)]!,
  });
  drawActs(world, tape, rollout);
  clock.after(600_000, () => world.calm());
  await clock.run(START_MS + LIMIT_MS, () => world.findings.length > 0);
  const open = rollout.closedMs === null ? ['the rollout was open after a day'] : [];
  return {
    world,
    rollout,
    findings: [...new Set(world.findings), ...open, ...unruly(world), ...passedUnmeasured(rollout, readings)],
  };
}

function drawActs(world: World, tape: Tape, rollout: Run): void {
  const { clock, server } = world;
  const whenUp = (act: () => void) => {
    if (server.isUp) act();
    else clock.after(1_000, () => whenUp(act));
  };
  const decide = (name: DecisionName, more: object = {}) =>
    requestUpdate(server, rollout, name, { ...OPERATOR, ...more });
  const acts: Record<string, () => unknown> = {
    'nothing happens': () => {},
    'a server is held': () => {
      const serverId = SERVERS[tape.choose('server', SERVERS.length)];
      const hold = { serverId, event: `event:${tape.choose('event', 9)}`, reason: 'an alert fired' };
      server.signal({ workflowId: rollout.workflowId }, HOLD_SIGNAL, [payloads.toPayload(hold)]);
    },
    'a server is released': () => decide('resume', { serverId: SERVERS[tape.choose('server', SERVERS.length)] }),
    'it is paused': () => decide('pause'),
    'it is resumed': () => decide('resume'),
    'two decisions come together': () => [decide('pause'), decide('resume')],
    'it is aborted': () => tape.choose('really', 3) === 2 && decide('abort'),
    'it is cancelled': () => tape.choose('really', 3) === 2 && server.requestCancel(rollout),
    'the workers restart': () => world.restartWorkers(2_000),
    'Temporal is down': () => world.downServer(5_000),
  };
  const names = Object.keys(acts);
  for (let count = 0; count < 10; count += 1) {
    const act = acts[names[tape.choose('act', names.length)]!]!;
    clock.after(tape.choose('when', 600) * 1_000, () => whenUp(act));
  }
  // In the end, a user resumes what waits for a decision.
  clock.after(USER_LOOKS_MS, function look() {
    if (rollout.closedMs !== null) return;
    if (world.calmMs !== null && searchAttribute(rollout, 'BelayPhase') === 'paused') decide('resume');
    clock.after(USER_LOOKS_MS, look);
  });
}
