/**
 * Makes a failing play simpler while it fails in the same way. Zero means that nothing happens, so a tape gets shorter,
 * then emptier, then smaller. The scenario loses what the failure does not need.
 */
import type { Scenario } from '../../model/scenario.ts';
import { isStarted, PARTS, withoutIdleRuns, type Part } from './shrink-scenario.ts';

export interface Case {
  scenario: Scenario;
  choices: readonly number[];
}

/** Tries one that is simpler. @returns whether it fails, too, and is the best one now */
type Attempt = (it: Case) => Promise<boolean>;

interface Search {
  best: () => Case;
  attempt: Attempt;
}

/** @param fails whether this one fails in the same way @param attempts how many are played at most */
export async function shrink(start: Case, fails: (it: Case) => Promise<boolean>, attempts: number): Promise<Case> {
  let best = start;
  let left = attempts;
  const attempt: Attempt = async (it) => {
    if (left === 0) return false;
    left -= 1;
    if (!(await fails(it))) return false;
    best = it;
    return true;
  };
  const search: Search = { best: () => best, attempt };
  for (let before: Case | null = null; before !== best && left > 0;) {
    before = best;
    await cut(search);
    for (const part of PARTS) await drop(search, part);
    const { scenario } = best;
    if (!scenario.runs.every((_, index) => isStarted(scenario, index)))
      await attempt({ ...best, scenario: withoutIdleRuns(scenario) });
    await zero(search);
    await lower(search);
  }
  return { ...best, choices: withoutLastZeros(best.choices) };
}

async function drop({ best, attempt }: Search, part: Part): Promise<void> {
  for (let index = part.count(best().scenario) - 1; index >= 0; index -= 1) {
    const scenario = part.without(best().scenario, index);
    if (scenario !== null) await attempt({ ...best(), scenario });
  }
}

/** Ends the tape earlier. */
async function cut({ best, attempt }: Search): Promise<void> {
  for (let size = best().choices.length; size >= 1; size = Math.floor(size / 2)) {
    const { choices } = best();
    if (size <= choices.length) await attempt({ ...best(), choices: choices.slice(0, choices.length - size) });
  }
}

/** Zeroes blocks of the choices that are not zero: all of them, halves, quarters, and single ones. */
async function zero({ best, attempt }: Search): Promise<void> {
  for (let size = places(best()).length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < places(best()).length;) {
      const block = new Set(places(best()).slice(from, from + size));
      const choices = best().choices.map((choice, index) => (block.has(index) ? 0 : choice));
      if (!(await attempt({ ...best(), choices }))) from += size;
    }
  }
}

/** Lowers single choices to 1 or by half. */
async function lower({ best, attempt }: Search): Promise<void> {
  for (const place of places(best())) {
    for (let was = best().choices[place]!; was > 1;) {
      if (await attempt({ ...best(), choices: best().choices.with(place, 1) })) break;
      const half = Math.floor(was / 2);
      was = half > 1 && (await attempt({ ...best(), choices: best().choices.with(place, half) })) ? half : 1;
    }
  }
}

/** Where choices are not zero. */
const places = ({ choices }: Case): number[] => choices.flatMap((choice, index) => (choice === 0 ? [] : [index]));

function withoutLastZeros(choices: readonly number[]): number[] {
  return choices.slice(0, choices.findLastIndex((choice) => choice !== 0) + 1);
}
