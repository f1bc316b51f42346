/** A site of a service that names its deployments. The sandbox does not: the API promises no id. */
import type { Controls } from '../../../../src/sandbox/controls.ts';
import { fresh } from '../../../support/fresh.ts';

interface Answers {
  /** To both reads before the request; or to each of them, one after another. */
  old: object | object[];
  /** To the request. `lost`: it had no effect, and its connection breaks. */
  answered: object | 'lost';
  /** How long that takes. Default: no time. */
  answeredAfterMs?: number;
  /** To the later reads, one after another, and the last one to all others. */
  now: object | object[];
}

export function namedSite(
  sandbox: Controls,
  { old, answered, answeredAfterMs = 0, now }: Answers,
  target = fresh('a'),
): string {
  const body = (it: object) =>
    ({ kind: 'body', code: 200, type: 'application/json', text: JSON.stringify(it) }) as const;
  const answers = Array.isArray(now) ? (now as object[]) : [now];
  const before = Array.isArray(old) ? (old as object[]) : [old, old];
  sandbox.fault(
    ...before.map((it) => ({ route: 'latest', target, answer: body(it) }) as const),
    answered === 'lost'
      ? { route: 'deploy', target, effect: false, answer: { kind: 'reset' } }
      : { route: 'deploy', target, effect: true, answer: body(answered), delayMs: answeredAfterMs },
    ...answers.map((it, index) => ({
      ...({ route: 'latest', target, answer: body(it) } as const),
      times: index === answers.length - 1 ? 999 : 1,
    })),
  );
  return target;
}
