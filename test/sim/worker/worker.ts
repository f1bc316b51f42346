/** A worker: it takes tasks, runs workflow code in its cache and makes activities. */
import { ADMISSION_ACTIVITY } from '../../../src/contract/names.ts';
import type { Pacer } from '../../../src/hosting-api/index.ts';
import { createAdmission, type Admission } from '../../../src/worker/admission.ts';
import type { Tape } from '../tape.ts';
import type { ActivityTask } from '../temporal/activities.ts';
import type { Run } from '../temporal/types.ts';
import { createMaker } from './activities.ts';
import { createExecutions } from './executions.ts';
import type { Ask, WorkerParts } from './parts.ts';
import type { Process } from './process.ts';
import { createRest } from './worker-rest.ts';

export interface SimWorker {
  readonly name: string;
  readonly process: Process;
  readonly pacer: Pacer;
  /** Whether it would take this activity now. */
  takesActivity(task: Pick<ActivityTask, 'type'>): boolean;
  takeWorkflow(run: Run): void;
  takeActivity(task: ActivityTask): void;
  forgetAll(): void;
}

export function createSimWorker(name: string, parts: WorkerParts): SimWorker {
  const { clock, tape, process, server } = parts;
  const ask: Ask = async (question) => {
    await process.sleep(1 + tape.choose('rpc', 15));
    while (!server.isUp) await process.sleep(200);
    return question();
  };
  const rest = createRest(parts);
  const admission = createAdmission(() => clock.nowMs);
  const maker = createMaker(parts, { rest, admission: drawn(admission, tape) }, ask);
  const executions = createExecutions(name, parts, ask);
  return {
    name,
    process,
    pacer: parts.pace.pacer,
    takesActivity: ({ type }) => rest.reason === null && (type !== ADMISSION_ACTIVITY || admission.hasPlace()),
    takeWorkflow(run) {
      // The server gives it out at once; a process that is stopped finds it when it is continued.
      const task = server.startTask(run, name);
      if (task !== null) process.later(0, () => void executions.workOn(task));
    },
    takeActivity(task) {
      if (task.type === ADMISSION_ACTIVITY) admission.takePlace();
      if (server.activities.start(task)) process.later(0, () => void maker.make(task));
    },
    forgetAll: () => executions.forgetAll(),
  };
}

/** Few runs begin in a play, so there would nearly always be a place. */
const drawn = (admission: Admission, tape: Tape): Pick<Admission, 'admitNewcomer' | 'noteRead'> => ({
  ...admission,
  admitNewcomer: () => admission.admitNewcomer() && tape.choose('place', 16) !== 15,
});
