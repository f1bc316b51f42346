/** The ways in which a POST ends, and what a run has to report then. */
import assert from 'node:assert/strict';
import type { BackupResult, DeploymentResult, RunResult, TriggerReport } from '../../src/contract/run.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import { LOGIN, page } from './fault-answers.ts';

export type Post = Pick<Fault, 'answer' | 'effect' | 'delayMs' | 'times'>;

export interface Expected {
  outcome: string;
  type: string | null;
  trigger: TriggerReport;
  /** How many operations began at the service. */
  effects: number;
  message?: RegExp;
}

const DONE = { outcome: 'completed', type: null, effects: 1 };
export const ACCEPTED: Expected = { ...DONE, trigger: { attempts: 1, ambiguous: false, reconciledBy: null } };
export const TURNED_AWAY: Expected = { ...DONE, trigger: { attempts: 2, ambiguous: false, reconciledBy: null } };
export const FOUND: Expected = { ...DONE, trigger: { attempts: 1, ambiguous: true, reconciledBy: 'changed' } };
export const RESENT: Expected = { ...DONE, trigger: { attempts: 2, ambiguous: true, reconciledBy: 'resent' } };
export const REFUSED: Expected = {
  outcome: 'not_started',
  type: 'Refused',
  effects: 0,
  trigger: { attempts: 1, ambiguous: false, reconciledBy: null },
};

const REDIRECT: Post = { answer: { kind: 'redirect', location: '/v1/sites/elsewhere/deployments/latest' } };

/** Ends of a real connection, and answers without a meaning. They leave it open whether the POST had an effect. */
export const unclearEnds = (token: string): [what: string, post: Post][] => [
  ['without an answer', { answer: { kind: 'none' } }],
  ['answered 502 with an error that repeats the token', page('application/json', `{"message":"${token}"}`, 502)],
  ['answered with HTML and 200', LOGIN],
  ['answered with a redirect', REDIRECT],
  ['answered with a truncated body', { answer: { kind: 'cut' } }],
  ['whose connection is reset', { answer: { kind: 'reset' } }],
];

/** @param seen what the service has in its journal */
export function assertEnd(
  { outcome, error }: RunResult,
  part: BackupResult | DeploymentResult,
  { message = /^/, ...end }: Expected,
  seen: { effects: number; sent: number },
): void {
  assert.equal(part.outcome, outcome);
  const seenEnd = { outcome, type: error?.type ?? null, trigger: part.trigger, effects: seen.effects };
  assert.deepEqual(seenEnd, end, error?.message);
  assert.match(error?.message ?? '', message);
  assert.equal(seen.sent, part.trigger.attempts);
}
