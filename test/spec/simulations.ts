/** What is simulated of the modules in docs/spec, and what each simulation has to hold and to reach. */

export interface Simulation {
  file: 'deployment.qnt' | 'lock.qnt';
  main: string;
  step: string;
  steps: number;
  traces: number;
  invariants: readonly string[];
  /** Situations that the traces must reach, else the invariants show little. */
  situations: readonly string[];
}

export const DEPLOYMENT: Simulation = {
  file: 'deployment.qnt',
  main: 'promptService',
  step: 'step',
  steps: 30,
  traces: 300,
  invariants: [
    'deploysOnce',
    'watchedUntilRequest',
    'waitsForOthers',
    'noThirdInDoubt',
    'noneAfterRefusal',
    'requestsEnd',
    'notStartedIsTrue',
    'keepsDeadline',
  ],
  situations: ['sentTwice', 'foundTrace', 'doubtTwice', 'pausedInDoubt', 'endedBlind', 'lateInDoubt'],
};

/** No promise about the number of deployments, but the report stays true. */
export const SLOW_SERVICE: Simulation = {
  ...DEPLOYMENT,
  main: 'slowService',
  traces: 150,
  invariants: DEPLOYMENT.invariants.filter((name) => name !== 'deploysOnce'),
  situations: ['lateInDoubt'],
};

const LOCK = { file: 'lock.qnt', steps: 40, traces: 80 } as const;

export const SITE_LOCK: Simulation = {
  ...LOCK,
  main: 'siteLock',
  step: 'step',
  invariants: ['oneOperation', 'noneStuck', 'noneLost'],
  situations: ['foundFree', 'newcomerFirst'],
};

/** Without terminations: a terminated holder signals no waiter. */
export const SITE_LOCK_CALM: Simulation = {
  ...LOCK,
  main: 'siteLock',
  step: 'calm',
  invariants: ['oneOperation', 'noneForgotten', 'noneStuck', 'noneLost'],
  situations: ['releasedTwice', 'newcomerFirst', 'lateToHolder'],
};

export const SERVER_LOCK: Simulation = {
  ...LOCK,
  main: 'serverLock',
  step: 'step',
  invariants: ['oneOperation', 'noneStuck', 'noneLost', 'deploysOnComplete', 'outlivesRun'],
  situations: ['sharedGoing', 'orphaned'],
};

export const SIMULATIONS: readonly Simulation[] = [DEPLOYMENT, SLOW_SERVICE, SITE_LOCK, SITE_LOCK_CALM, SERVER_LOCK];
