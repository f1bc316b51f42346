/** Tapes that once failed, as files. A file names only the choices that are not zero. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Scenario } from '../../model/scenario.ts';
import type { Case } from './shrink.ts';

interface Kept {
  /** What was found, and where. */
  found: string;
  scenario: Scenario;
  /** By their place on the tape. */
  choices: Record<string, number>;
}

const FOLDER = new URL('../kept/', import.meta.url);

export function keptText(found: string, { scenario, choices }: Case): string {
  const set = choices.flatMap((choice, place) => (choice === 0 ? [] : [[place, choice] as const]));
  return `${JSON.stringify({ found, scenario, choices: Object.fromEntries(set) } satisfies Kept, null, 2)}\n`;
}

const read = (file: string | URL) => JSON.parse(readFileSync(file, 'utf8')) as Kept;

export const readKept = (file: string | URL): Case => caseOf(read(file));

function caseOf({ scenario, choices }: Kept): Case {
  const places = Object.keys(choices).map(Number);
  const length = Math.max(-1, ...places) + 1;
  return { scenario, choices: Array.from({ length }, (_, place) => choices[place] ?? 0) };
}

export const keptTapes = (): { name: string; found: string; kept: Case }[] =>
  readdirSync(FOLDER).map((name) => {
    const it = read(new URL(name, FOLDER));
    return { name, found: it.found, kept: caseOf(it) };
  });
