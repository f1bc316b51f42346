/** Which traces are replayed with the workflows, and which broken rules of the code the replay has to notice. */
import { MUTANTS } from '../sim/mutants/mutants.ts';
import type { Change } from '../mutants/mutant.ts';
import type { Simulation } from './simulations.ts';

export interface Replay extends Pick<Simulation, 'file' | 'main' | 'steps' | 'traces'> {
  /** What the traces must contain, else the replay shows little. */
  actions: readonly string[];
}

export interface BrokenCode {
  rule: string;
  main: string;
  changes: readonly Change[];
}

const LOCK_ACTIONS = 'want take ask look wake giveUp forwardLate conclude signalFirst close terminate end'.split(' ');
const DEPLOYMENT_ACTIONS =
  'begin takeBaseline concludeLate sendAccepted sendWithoutEffect reconcile cancel decide giveUp terminate end tick ' +
  'passDeadline';

const LOCK = { file: 'lock.qnt', steps: 40, traces: 50 } as const;
const DEPLOYMENT = { file: 'deployment.qnt', steps: 30, actions: DEPLOYMENT_ACTIONS.split(' ') } as const;

export const REPLAYS: readonly Replay[] = [
  { ...LOCK, main: 'siteLock', actions: LOCK_ACTIONS },
  { ...LOCK, main: 'serverLock', actions: [...LOCK_ACTIONS, 'create', 'finish', 'cancel', 'readShared', 'timeOut'] },
  { ...DEPLOYMENT, main: 'promptService', traces: 60 },
  { ...DEPLOYMENT, main: 'slowService', traces: 40 },
];

const brokenCode = (main: string, rule: string): BrokenCode => {
  const mutant = MUTANTS.find((it) => it.rule === rule);
  if (mutant === undefined) throw new Error(`no mutant: ${rule}`);
  return { main, rule, changes: mutant.changes };
};

export const BROKEN_CODE: readonly BrokenCode[] = [
  brokenCode('siteLock', 'a holder forgets the rest of its queue'),
  brokenCode('serverLock', 'the run deploys regardless of the backup'),
  brokenCode('promptService', 'an ambiguous POST is sent again at once'),
];
