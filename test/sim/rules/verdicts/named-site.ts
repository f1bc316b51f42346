/** A site of a service that names its deployments. The sandbox does not: the API promises no id. */
import type { Controls } from '../../../../src/sandbox/controls.ts';
import { fresh } from '../../../support/fresh.ts';

interface Answers {
  /** To both reads before the request. */
  old: object;
  /** To the request. */
  answered: object;
  /** To every later read. */
  now: object;
}

export function namedSite(sandbox: Controls, { old, answered, now }: Answers): string {
  const target = fresh('a');
  const body = (it: object) =>
    ({ kind: 'body', code: 200, type: 'application/json', text: JSON.stringify(it) }) as const;
  sandbox.fault(
    { route: 'latest', target, times: 2, answer: body(old) },
    { route: 'deploy', target, effect: true, answer: body(answered) },
    { route: 'latest', target, times: 999, answer: body(now) },
  );
  return target;
}
