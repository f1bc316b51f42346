/** Everything of one play: the server, the workers, the service, and what may go wrong with them. */
import type { Configuration } from '../../src/config/load.ts';
import type { WorkerInfo } from '../../src/contract/activities.ts';
import { definedFields } from '../../src/contract/plain-object.ts';
import { TIMING } from '../../src/contract/timing.ts';
import type { Kind, ScriptPart } from '../../src/sandbox/script.ts';
import { createState } from '../../src/sandbox/state.ts';
import type { Done } from '../model/record.ts';
import { createClock, type Clock } from './clock.ts';
import { createMeter, type Meter } from './worker/meter.ts';
import { createNotices, type Notices } from './worker/notices.ts';
import { OPEN, type Gate } from './temporal/gate.ts';
import { createPace } from './worker/pace.ts';
import { createProcess } from './worker/process.ts';
import type { Sandboxes } from './core/sdk.ts';
import type { ActivityTask } from './temporal/activities.ts';
import { createServer } from './temporal/server.ts';
import type { Run, Server } from './temporal/types.ts';
import type { Tape } from './tape.ts';
import { createSimWorker, type SimWorker } from './worker/worker.ts';
import type { Service } from './worker/wire.ts';

export const SERVICE_URL = 'http://service';
export const START_MS = Date.parse('2026-03-02T08:00:00Z');
export const TOKEN = 'sim-token';

export interface World {
  readonly clock: Clock;
  readonly server: Server;
  readonly service: Service;
  /** What the workers' notifications reach. */
  readonly notices: Notices;
  /** What their gates measure. */
  readonly meter: Meter;
  /** The files that the configuration of the workers names, by their paths. */
  readonly files: Map<string, string>;
  readonly findings: string[];
  /** Faults of workers and server so far. */
  readonly deeds: Done[];
  /** When the service was down. */
  readonly outages: { fromMs: number; toMs: number }[];
  /** False: from now on, nothing goes wrong. */
  faults: boolean;
  /** When that was, or null. */
  calmMs: number | null;
  /** Ends all faults, also those in progress. */
  calm(): void;
  restartWorkers(downMs: number): void;
  downServer(forMs: number): void;
  downService(forMs: number): void;
  /** @param settings what its configuration has of its own */
  addWorker(settings?: WorkerSettings): void;
  /** Ends all workers at once, and for good. */
  endWorkers(): void;
}

interface WorkerSettings extends Partial<
  Pick<WorkerInfo, 'statuses' | 'notify' | 'epoch' | 'service' | 'deploymentId'>
> {
  /** Default: that of the world. */
  configuration?: WorldOptions['configuration'];
}

export interface WorldOptions {
  workers: number;
  cacheSize: number;
  /** How often in a thousand steps of a worker it crashes or stalls. */
  crashes: number;
  stalls: number;
  /** How far the clocks of workers may be wrong. */
  clockSpreadMs: number;
  /** Of the requests per second of all workers. Default: none. */
  ceiling?: number | null;
  /** How long a search does not find an execution after its start. Default: it does at once. */
  searchLagMs?: number;
  /** Of operations that have no script. */
  defaults?: Partial<Record<Kind, ScriptPart>>;
  /** What the configuration of the workers makes of status words. */
  statuses?: WorkerInfo['statuses'];
  /** Where their configuration has notifications sent. */
  notify?: WorkerInfo['notify'];
  /** The freezes and windows of their configuration. */
  configuration?: Configuration;
  /** The files that it names, by their paths. */
  files?: ReadonlyMap<string, string>;
  /** What a test holds back. */
  gate?: Gate;
}

export function createWorld(sandboxes: Sandboxes, tape: Tape, options: WorldOptions): World {
  const { statuses, notify, gate = OPEN } = options;
  const deploymentId = options.configuration?.deploymentId;
  const findings: string[] = [];
  const clock = createClock(START_MS, {
    settled: () => sandboxes.settled(),
    onStandStill: () => void findings.push('time stands still'),
  });
  const deeds: Done[] = [];
  const outages: World['outages'] = [];
  const workers: SimWorker[] = [];
  const service: Service = {
    state: createState({ token: TOKEN, defaults: options.defaults, onBegin: () => {}, clock: () => clock.nowMs }),
    isUp: true,
    isFailing: false,
  };
  const notices = createNotices();
  const meter = createMeter();
  const server = createServer(clock, tape, { offerWorkflow, offerActivity, beforeChild });
  const world: World = {
    clock,
    server,
    service,
    notices,
    meter,
    files: new Map(options.files),
    findings,
    deeds,
    outages,
    faults: true,
    calmMs: null,
    calm,
    restartWorkers,
    downServer,
    downService,
    addWorker: (settings = {}) => startWorker((added += 1), 1, settings),
    endWorkers,
  };
  let added = 0;
  while (added < options.workers) world.addWorker();
  return world;

  function startWorker(index: number, start: number, given: WorkerSettings): void {
    const { configuration, ...settings } = given;
    const aheadMs = (tape.choose('clock', 3) - 1) * options.clockSpreadMs;
    const process = createProcess(clock, aheadMs);
    const name = `w${index}.${start}`;
    const hazard = (at: string) => {
      if (!world.faults || process.hasEnded) return;
      const drawn = tape.choose(at, 1_000);
      if (drawn === 0) return;
      if (drawn > 999 - options.crashes) return kill(worker, 500 + tape.choose('down', 8) * 1_000);
      if (drawn > 999 - options.crashes - options.stalls) stall(worker, 200 + tape.choose('stall', 40) * 500);
    };
    const onFinding = (finding: string) => void findings.push(finding);
    const worker = createSimWorker(name, {
      ...{ clock, tape, process, server, service, notices, meter, sandboxes, hazard },
      info: { ...INFO, ...definedFields({ statuses, notify, deploymentId }), ...settings },
      cacheSize: options.cacheSize,
      searchLagMs: options.searchLagMs ?? 0,
      configuration: configuration ?? options.configuration ?? {},
      readText: (path) => readText(world.files, path),
      token: () => TOKEN,
      onFinding,
      pace: createPace({ clock, tape, process, onFinding }),
      hasColleagues: () => workers.length > 1,
    });
    workers.push(worker);
    setShare(worker);
    shareSoon(TIMING.pace.countWorkersMs);
    restarts.set(worker, () => startWorker(index, start + 1, given));
  }

  function end(worker: SimWorker): void {
    worker.process.kill();
    worker.forgetAll();
    workers.splice(workers.indexOf(worker), 1);
    shareSoon(TIMING.worker.seenWithinMs + TIMING.pace.countWorkersMs);
  }

  function setShare({ pacer }: SimWorker): void {
    if (options.ceiling != null) pacer.setShare(options.ceiling / workers.length);
  }

  /** Once the workers have counted each other again. */
  function shareSoon(afterMs: number): void {
    if (options.ceiling != null) clock.after(afterMs, () => workers.forEach(setShare));
  }

  function endWorkers(): void {
    for (const worker of [...workers]) end(worker);
  }

  function kill(worker: SimWorker, downMs: number): void {
    if (worker.process.hasEnded) return;
    end(worker);
    deeds.push({ what: 'SIGKILL worker', forMs: downMs, fromMs: clock.nowMs, toMs: clock.nowMs + downMs });
    clock.after(downMs, restarts.get(worker)!);
  }

  function stall(worker: SimWorker, forMs: number): void {
    worker.process.stop(forMs);
    deeds.push({ what: 'SIGSTOP worker', forMs, fromMs: clock.nowMs, toMs: clock.nowMs + forMs });
  }

  function calm(): void {
    world.faults = false;
    world.calmMs = clock.nowMs;
    [server.isUp, service.isUp] = [true, true];
    for (const outage of outages) outage.toMs = Math.min(outage.toMs, clock.nowMs);
  }

  function restartWorkers(downMs: number): void {
    for (const worker of [...workers]) kill(worker, downMs);
  }

  function downServer(forMs: number): void {
    server.isUp = false;
    deeds.push({ what: 'SIGKILL server', forMs, fromMs: clock.nowMs, toMs: clock.nowMs + forMs });
    clock.after(forMs, () => {
      server.isUp = true;
    });
  }

  function downService(forMs: number): void {
    service.isUp = false;
    outages.push({ fromMs: clock.nowMs, toMs: clock.nowMs + forMs });
    clock.after(forMs, () => (service.isUp = outages.every(({ toMs }) => toMs <= clock.nowMs)));
  }

  function offerWorkflow(run: Run, only: string | null): void {
    clock.after(0, () => gate.pass({ kind: 'task', run }, offer));

    function offer(): void {
      if (run.task === null || run.task.startedId !== null || run.stickyTo !== only) return;
      const able = only === null ? workers : workers.filter(({ name }) => name === only);
      if (server.isUp && able.length > 0) able[tape.choose('worker', able.length)]!.takeWorkflow(run);
      else clock.after(POLL_MS, offer);
    }
  }

  function offerActivity(task: ActivityTask, by: string | null): void {
    clock.after(0, () => gate.pass({ kind: 'activity', run: task.run, type: task.type }, offerFirst));

    /** A worker that rests takes what it scheduled itself. */
    function offerFirst(): void {
      const own = workers.find(({ name }) => name === by);
      if (own === undefined || !server.isUp) offer();
      else own.takeActivity(task);
    }

    function offer(): void {
      if (!server.activities.isAwaited(task)) return;
      const able = workers.filter((worker) => worker.takesActivity(task));
      if (server.isUp && able.length > 0) able[tape.choose('worker', able.length)]!.takeActivity(task);
      else clock.after(POLL_MS, offer);
    }
  }

  function beforeChild(run: Run, { workflowId }: { workflowId: string }, start: () => void): void {
    gate.pass({ kind: 'child', run, workflowId }, start);
  }
}

/** After this, a worker that was not there may take what waits. */
const POLL_MS = 100;
const restarts = new WeakMap<SimWorker, () => void>();

const INFO: WorkerInfo = {
  ...{ service: SERVICE_URL, formerly: [], epoch: '1', searchAttributes: true, deploysApps: true },
  statuses: { deployment: {}, backup: {} },
};

function readText(files: ReadonlyMap<string, string>, path: string): Promise<string> {
  const text = files.get(path);
  return text === undefined ? Promise.reject(new Error(`there is no ${path}`)) : Promise.resolve(text);
}
