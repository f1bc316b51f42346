/** Holds more and more waits, and measures each number of them for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '../../src/starter.ts';
import { workerThreadsMs } from '../processes.ts';
import { seconds } from '../report/amounts.ts';
import { progress } from '../report/run-part.ts';
import type { Service } from '../service/start-service.ts';
import { latenessOfBeat } from '../statistics/lateness.ts';
import { spreadOf, type Spread } from '../statistics/spread.ts';
import type { BelayStack } from './belay-stack.ts';
import { hold, type HoldOptions } from './hold.ts';
import type { Steadiness } from './spin.ts';
import { measureWindow, type Window } from './window.ts';

export interface ClimbPlan extends Omit<HoldOptions, 'deadlineMs'> {
  /** How many waits to hold, ascending. */
  counts: readonly number[];
  /** How long each number is measured. */
  measureMs: number;
  deadlineMs: number;
}

export interface Step {
  held: number;
  added: number;
  failedStarts: number;
  /** Runs that were started and made no request. */
  notBegun: number;
  /** Until the last start was answered, and until the last request arrived at the service. */
  startedWithinMs: number;
  begunWithinMs: number;
  beginsPerSecond: number;
  /** Of the waits that were held before, while others began. */
  lateMeanwhile: Spread;
  asked: number;
  made: number;
  /** Due moments of the beat without a read. */
  unread: number;
  late: Spread;
  lateMs: number[];
  /** Milliseconds for each read: of the worker, its threads that run workflows, Temporal, and the service. */
  cpuMsPerRead: Record<'worker' | 'workflows' | 'server' | 'service', number>;
  workerMemoryMb: number;
  serverMemoryMb: number;
  ownCpuMs: number;
  foreignCpuMs: number;
  spinMs: Window['spinMs'];
}

export interface Climbed {
  steps: Step[];
  sites: string[];
  runs: Run[];
}

/** Ends early at the deadline, with the step that it reached. @param prefix of the names of its sites */
export async function climb(
  stack: BelayStack,
  service: Service,
  prefix: string,
  plan: ClimbPlan,
  steadiness: Steadiness,
): Promise<Climbed> {
  const { counts, intervalMs, measureMs, deadlineMs } = plan;
  const climbed: Climbed = { steps: [], sites: [], runs: [] };
  let asked = 0;
  for (const count of counts) {
    const before = [...climbed.sites];
    const wanted = Array.from({ length: count - asked }, (_, index) => `${prefix}-${asked + index}`);
    asked = count;
    const held = await hold(stack, service, wanted, plan);
    climbed.sites.push(...held.begun);
    climbed.runs.push(...held.runs);
    const { beganMs, startedMs, lastPostMs, failedStarts } = held;
    progress(`${climbed.sites.length} begun, the last ${held.begun.length} in ${seconds(lastPostMs - beganMs)}`);
    const meanwhile = { fromMs: beganMs, toMs: lastPostMs, intervalMs };
    await sleep(intervalMs);
    const window = await steadiness.measure(() => measureStep(stack, service, measureMs));
    const { lateMs, unread } = latenessOfBeat(climbed.sites, window.reads, { ...window, intervalMs });
    const { reads, toMs, fromMs, cpuMs, memoryMb, ownCpuMs, foreignCpuMs, spinMs } = window;
    const perRead = (name: string) => cpuMs[name]! / reads.length;
    climbed.steps.push({
      ...{ held: climbed.sites.length, added: held.begun.length, failedStarts },
      notBegun: held.runs.length - held.begun.length,
      startedWithinMs: startedMs - beganMs,
      begunWithinMs: lastPostMs - beganMs,
      beginsPerSecond: (1_000 * held.begun.length) / (lastPostMs - beganMs),
      lateMeanwhile: spreadOf(latenessOfBeat(before, held.reads, meanwhile).lateMs),
      asked: Math.round((climbed.sites.length * (toMs - fromMs)) / intervalMs),
      ...{ made: reads.length, unread, late: spreadOf(lateMs), lateMs },
      cpuMsPerRead: {
        worker: perRead('worker'),
        workflows: perRead('workflows'),
        server: perRead('server'),
        service: perRead('service'),
      },
      workerMemoryMb: memoryMb.worker!,
      serverMemoryMb: memoryMb.server!,
      ...{ ownCpuMs, foreignCpuMs, spinMs },
    });
    if (Date.now() > deadlineMs) break;
  }
  return climbed;
}

function measureStep({ workerPid, serverPid }: BelayStack, service: Service, lengthMs: number): Promise<Window> {
  const processes = { worker: [workerPid], server: [serverPid] };
  return measureWindow(service, processes, lengthMs, { workflows: () => workerThreadsMs(workerPid) });
}
