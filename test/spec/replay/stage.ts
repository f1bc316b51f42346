/** A world in which nothing goes on but what a step of a trace lets go on. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { Run } from '../../sim/temporal/types.ts';
import type { Passing } from '../../sim/temporal/gate.ts';
import type { Sandboxes } from '../../sim/core/sdk.ts';
import { recordedTape } from '../../sim/tape.ts';
import { createWorld, type World, type WorldOptions } from '../../sim/world.ts';

/** The code does not do what the model does. */
export class Divergence extends Error {}

export interface Stage {
  readonly world: World;
  /** Lets what is meant go on, and time pass, until a condition holds. @throws Divergence if it never does */
  let(what: string, isMeant: (it: Passing) => boolean, isDone: () => boolean): Promise<void>;
}

/** Of virtual time, for one step. */
const LIMIT_MS = 30 * 60_000;

export function createStage(sandboxes: Sandboxes, options: Pick<WorldOptions, 'defaults' | 'statuses'>): Stage {
  let held: { it: Passing; goOn: () => void }[] = [];
  let mayPass: (it: Passing) => boolean = () => false;
  const gate: WorldOptions['gate'] = {
    pass: (it, goOn) => (mayPass(it) ? goOn() : void held.push({ it, goOn })),
  };
  const usual = { workers: 1, cacheSize: 1_000, crashes: 0, stalls: 0, clockSpreadMs: 0 };
  const notify = { on: 'all', channels: ['ops'], heartbeats: [] } as const;
  const world = createWorld(sandboxes, recordedTape([]), {
    ...usual,
    ...options,
    gate,
    notify: { ...notify, channels: [...notify.channels], heartbeats: [] },
  });
  const { clock, findings } = world;
  return {
    world,
    async let(what, isMeant, isDone) {
      if (isDone()) return;
      mayPass = isMeant;
      const before = held;
      held = before.filter(({ it }) => !isMeant(it));
      for (const { it, goOn } of before) if (isMeant(it)) goOn();
      const isOver = () => isDone() || findings.length > 0;
      if (!isOver()) await clock.run(clock.nowMs + LIMIT_MS, isOver);
      mayPass = () => false;
      if (findings.length > 0) throw new Divergence(findings.join('; '));
      if (!isDone()) throw new Divergence(`the code does not do this: ${what}`);
    },
  };
}

/** Nothing of it is under way, but what waits for time or is held back. */
export function isQuiet({ history, buffered, task }: Run, isHeld: (workflowId: string) => boolean): boolean {
  if (task !== null || buffered.length > 0) return false;
  const ended = new Set<string>();
  for (const event of history) {
    if (event.kind === 'signalSent') ended.add(`signal ${event.seq}`);
    if (event.kind === 'childStarted' || event.kind === 'childRefused') ended.add(`child ${event.seq}`);
    if (event.kind === 'activityClosed') ended.add(`activity ${event.seq}`);
  }
  return history.every((event) => {
    if (event.kind === 'signalInitiated') return ended.has(`signal ${event.seq}`);
    if (event.kind === 'childInitiated') return ended.has(`child ${event.seq}`) || isHeld(event.workflowId);
    return event.kind !== 'activityScheduled' || ended.has(`activity ${event.seq}`);
  });
}

export const inputOf = <T>({ input }: { input: Parameters<typeof payloads.fromPayload>[0][] }): T =>
  payloads.fromPayload<T>(input[0]!);
