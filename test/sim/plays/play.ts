/** Plays a scenario of the chaos model in virtual time, and records it for the model's judge. */
import fc from 'fast-check';
import type { RunInput } from '../../../src/contract/run.ts';
import { targetsInput, targetsOf } from '../../../src/contract/target.ts';
import { actFromOutside } from '../../../src/sandbox/controls.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { Resource } from '../../../src/sandbox/script.ts';
import { DOUBTFUL, EVERYTHING } from '../../model/mix.ts';
import type { Played } from '../../model/record.ts';
import { scenario, type Act, type Scenario } from '../../model/scenario.ts';
import { targetNamed } from '../../model/targets.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { configurationOf, freeze, overrideOf, thaw } from './gates.ts';
import { withLongDraws } from './long-draws.ts';
import { drawMishaps } from './mishaps.ts';
import { onBegun } from './on-begun.ts';
import { record, type Started } from './record.ts';
import { lengthened, SCALES } from './scales.ts';
import { drawSlowHandOvers } from './slow-hand-over.ts';
import { startRequest } from './start-run.ts';
import type { Tape } from '../tape.ts';
import { createWorld, SERVICE_URL, START_MS, type World } from '../world.ts';

export interface Play {
  played: Played;
  world: World;
  /** What it was played from. */
  drawn: Scenario;
  tape: Tape;
}

/** Runs may take hours of virtual time; none may take a week. */
const LIMIT_MS = 7 * 24 * 3_600_000;

/** Caches as the tape says, or none. */
export type Caches = 'drawn' | 'off';

/** Of three seeds in a row, one is about requests that fail. */
export function scenarioOf(seed: number): Scenario {
  const mix = seed % 3 === 0 ? { ...EVERYTHING, ...DOUBTFUL } : EVERYTHING;
  return fc.sample(scenario(mix), { seed, numRuns: 1 })[0]!;
}

export async function play(sandboxes: Sandboxes, drawn: Scenario, tape: Tape, caches: Caches = 'drawn'): Promise<Play> {
  const scale = SCALES[tape.choose('scale', SCALES.length)]!;
  const scaled = withLongDraws(lengthened(drawn, scale), tape);
  const isFaulty = (what: string) => tape.choose(what, 2) === 1;
  const [workers, cacheSize] = [1 + tape.choose('workers', 3), [1_000, 3][tape.choose('cache', 2)]!];
  const gate = drawSlowHandOvers(tape, () => world);
  const world: World = createWorld(sandboxes, tape, {
    gate,
    configuration: configurationOf(scaled, scale),
    workers,
    cacheSize: caches === 'off' ? 0 : cacheSize,
    crashes: isFaulty('crashes') ? 4 : 0,
    stalls: isFaulty('stalls') ? 6 : 0,
    clockSpreadMs: isFaulty('clocks') ? 3_600_000 : 0,
    ceiling: [null, 10, 4][tape.choose('ceiling', 3)]!,
  });
  const runs = perform(world, scaled);
  drawMishaps(world, tape, scale, runs);
  await world.clock.run(START_MS + LIMIT_MS, () => world.findings.length > 0);
  if (world.findings.length === 0 && world.server.runs.some(({ closedMs }) => closedMs === null))
    world.findings.push('a run was open after a week');
  return { played: record(world, scaled, runs), world, drawn, tape };
}

function perform(world: World, scenario: Scenario): Map<string, Started> {
  const { scripts, past, faults, runs, acts } = scenario;
  const { clock, service, server } = world;
  const { state } = service;
  const started = new Map<string, Started>();
  const byDraw = new Map<number, Started>();
  for (const [name, list] of Object.entries(scripts)) state.script(resourceOf(name), list);
  for (const { target, ...how } of scenario.answers ?? []) state.answer(resourceOf(target), how);
  for (const name of past) actFromOutside(state, resourceOf(name));
  state.faults.add(...faults.filter(({ route }) => route !== 'backup'));
  aimAtBackups(
    world,
    faults.filter(({ route }) => route === 'backup'),
  );
  let keys = 0;
  const startRun = (index: number) => {
    const draw = runs[index]!;
    const override = draw.overrides === true ? overrideOf(world, scenario) : {};
    const input = { ...inputOf(world, draw.input, draw.given), ...override };
    const key = draw.key === '' ? `r${(keys += 1)}` : draw.key;
    const request = startRequest(draw.type, input, key);
    const run = server.startOnce(request);
    const { workflowId } = request;
    const it = run === null ? started.get(workflowId)! : { run, input, startedMs: clock.nowMs, cancelledMs: null };
    started.set(workflowId, it);
    byDraw.set(index, it);
  };
  const act = (it: Act): void => {
    switch (it.do) {
      case 'start':
        return startRun(it.run);
      case 'cancel': {
        const found = byDraw.get(it.run);
        if (found === undefined) return;
        found.cancelledMs ??= clock.nowMs;
        return server.requestCancel(found.run);
      }
      case 'push':
        return actFromOutside(state, resourceOf(it.target));
      case 'back up':
        return actFromOutside(state, resourceOf(it.server));
      case 'delete':
        return state.remove(resourceOf(it.target));
      case 'freeze':
        return freeze(world, it);
      case 'thaw':
        return thaw(world, it.target);
    }
  };
  for (const it of acts) clock.after(it.atMs, () => act(it));
  return started;
}

function inputOf({ service: { state } }: World, input: RunInput, given: boolean): RunInput {
  const other = state.journal.findLast(
    ({ by, began }) => by === 'outside' && began?.kind === 'backup' && began.target === input.serverId,
  );
  const backup = given && other?.began ? { backup: { ...input.backup, backupId: other.began.id } } : {};
  return { service: SERVICE_URL, epoch: '1', ...input, ...targetsInput(targetsOf(input)), ...backup };
}

/** A backup has no id before it is made, so its faults wait for it. */
function aimAtBackups(world: World, faults: Fault[]): void {
  onBegun(world, ({ kind, id, target }) => {
    const aimed = kind === 'backup' ? faults.filter((fault) => fault.target === target) : [];
    world.service.state.faults.add(...aimed.map((fault) => ({ ...fault, target: id })));
  });
}

function resourceOf(name: string): Resource {
  if (/s\d$/.test(name)) return { type: 'server', id: name };
  return { type: targetNamed(name).kind, id: name };
}
