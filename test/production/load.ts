/** Fifty runs, each with a server and a site of its own, that begin one after another. */
import type { Fault } from '../../src/sandbox/faults.ts';
import type { Scenario } from '../model/scenario.ts';

export const RUNS = 50;
export const PREFIX = 'p';

const BETWEEN_STARTS_MS = 3_000;
/** A POST that is answered this late can be hit by a kill. */
export const ANSWER_MS = 1_500;
const PACE = { intervalMs: 2_000, tries: 60 };
const WORDS = ['queued', 'running'];

const padded = (index: number) => String(index).padStart(2, '0');
const serverOf = (index: number) => `${padded(index)}-s1`;
const siteOf = (index: number) => `${padded(index)}-a1`;

export function load(): Scenario {
  const indexes = Array.from({ length: RUNS }, (_, index) => index);
  // Every tenth backup and every fifth deployment fails, and each site shows an earlier one that completed.
  const scripts = indexes.map((index) => ({
    [serverOf(index)]: [
      { durationMs: 10_000 + 400 * index, words: WORDS, ends: index % 10 === 9 ? 'failed' : 'completed' },
    ],
    [siteOf(index)]: [
      { durationMs: 0, ends: 'completed' },
      { durationMs: 30_000 - 400 * index, words: WORDS, ends: index % 5 === 3 ? 'failed' : 'completed' },
    ],
  }));
  const slow = (target: string, route: NonNullable<Fault['route']>): Fault => ({
    target,
    route,
    answer: { kind: 'true' },
    delayMs: ANSWER_MS,
  });
  return {
    startMs: 0,
    scripts: Object.assign({}, ...scripts) as Scenario['scripts'],
    past: indexes.map(siteOf),
    faults: indexes.flatMap((index) => [slow(serverOf(index), 'create-backup'), slow(siteOf(index), 'deploy')]),
    runs: indexes.map((index) => ({
      type: 'backupThenDeploy',
      input: { serverId: serverOf(index), siteIds: [siteOf(index)], backup: PACE, deploy: PACE },
      key: '',
      again: false,
      given: false,
    })),
    acts: indexes.map((run) => ({ atMs: run * BETWEEN_STARTS_MS, do: 'start', run })),
  };
}
