/**
 * Nothing is lost while the tests are rearranged: every case of the suite before it has a test with its name, another
 * name, or a reason. Until the redesign of the core is done.
 */
import { readFileSync } from 'node:fs';
import { CHANGED_CASES } from './changed-cases.ts';

/** Some names have a port or a time. */
const withoutFigures = (name: string) => name.replaceAll(/\d{4,}/g, '#');

/** @param ran the names of all tests. @returns the cases that neither ran nor are known to be gone */
export function forgottenCases(ran: readonly string[]): string[] {
  const names = new Set(ran.map(withoutFigures));
  const before = readFileSync(new URL('cases.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const isKept = (name: string) => names.has(withoutFigures(name));
  return before.flatMap((name) => {
    if (isKept(name)) return [];
    const change = CHANGED_CASES[name];
    if (change === undefined)
      return [`test/runner/cases.txt\n  no test has this name, and no reason is known: ${name}`];
    if (!('now' in change) || isKept(change.now)) return [];
    return [`test/runner/changed-cases.ts\n  no test has this name: ${change.now}`];
  });
}
