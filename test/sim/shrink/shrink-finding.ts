/** Shrinks a play until only what its finding needs is left. */
import { check, findingsOf, type Checked } from '../checks/check-seed.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { play } from '../plays/play.ts';
import { shrink, type Case } from './shrink.ts';
import { recordedTape } from '../tape.ts';

/** Of plays, which take about a tenth of a second each. */
const ATTEMPTS = 400;

/** @returns null if the recorded tape does not show the finding */
export async function shrinkFinding(
  sandboxes: Sandboxes,
  { findings, play: { drawn, tape } }: Checked,
  attempts = ATTEMPTS,
): Promise<Case | null> {
  const kind = kindOf(findings[0]!);
  const shows = (found: readonly string[]) => found.some((it) => kindOf(it) === kind);
  const inOne = async ({ scenario, choices }: Case) =>
    shows(findingsOf(await play(sandboxes, scenario, recordedTape(choices))));
  const inTwo = async ({ scenario, choices }: Case) =>
    shows((await check(sandboxes, scenario, () => recordedTape(choices))).findings);
  const start: Case = { scenario: drawn, choices: tape.choices };
  for (const fails of [inOne, inTwo]) if (await fails(start)) return shrink(start, fails, attempts);
  return null;
}

/** An invariant, or what a finding of its own begins with. */
const kindOf = (finding: string): string => /^(?:[IS]\d+|[^:\d]+)/.exec(finding)?.[0] ?? finding;
