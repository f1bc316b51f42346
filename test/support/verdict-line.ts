import type { RunResult } from '../../src/contract/run.ts';

/** The verdict on the first deployment in one line. */
export const verdictLine = ({ deployments: [deployment], error }: Pick<RunResult, 'deployments' | 'error'>): string =>
  [deployment?.outcome, deployment?.evidence ?? error?.type].join(' by ');
