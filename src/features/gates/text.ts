/** What a gate measured, in words. Pure. */
import type { GatePlan, GateProgress, GateVerdict, Measurement, WaitingForGates } from './shapes.ts';
import { counted } from '../../contract/results.ts';

interface Measured {
  tries: number;
  goodInARow: number;
  bad: number;
  last: readonly Measurement[];
}

export const gateProgress = (plan: GatePlan, { tries, goodInARow, last }: Measured, nextAt: string): GateProgress => ({
  gate: plan.name,
  try: tries,
  tries: plan.tries,
  goodInARow,
  inARow: plan.inARow,
  last: last.at(-1)?.text ?? null,
  nextAt,
});

interface JudgedGate {
  plan: GatePlan;
  state: Measured;
  verdict: GateVerdict | null;
}

/** Gives the verdict, the last measurements and the counts. @param judged the verdict in words */
export function gateReason(wave: string, { plan, state, verdict }: JudgedGate, judged: string): string {
  const { tries, goodInARow, bad, last } = state;
  const shown = verdict === 'failed' ? last.findLast((it) => it.state === 'bad') : last.at(-1);
  const values = countRepeats(last.map(({ value, state: kind }) => value ?? kind)).join(', ');
  return (
    `gate ${plan.name} after wave ${wave} ${judged}: ${shown?.text ?? 'not measured'}; last ${values || 'none'}; ` +
    `${goodInARow} good in a row of ${plan.inARow}, ${bad} bad, ${triesText(tries, plan.tries)}`
  );
}

/** An inconclusive gate is measured on after its planned tries. */
const triesText = (tries: number, planned: number): string =>
  tries <= planned
    ? `${tries} of ${counted(planned, 'try', 'tries')}`
    : `${counted(tries, 'try', 'tries')}, ${plannedText(planned)}`;

const plannedText = (planned: number): string => `${planned} ${planned === 1 ? 'was' : 'were'} planned`;

/** `['1', 'error', 'error']` becomes `['1', 'error (twice)']`. */
function countRepeats(values: readonly string[]): string[] {
  const ends = values.flatMap((value, index) => (value === values[index + 1] ? [] : [index]));
  return ends.map((end, index) => {
    const count = end - (ends[index - 1] ?? -1);
    return count === 1 ? values[end]! : `${values[end]} (${count === 2 ? 'twice' : `${count} times`})`;
  });
}

export function gateSentence(
  { wave, bakesUntil, gates, inconclusive }: WaitingForGates,
  quote: (text: string) => string,
): string {
  if (bakesUntil !== null) return `wave ${quote(wave)} bakes until ${bakesUntil}`;
  const each = gates.map((it) => progressText(it, quote)).join('; ');
  const all = `after wave ${quote(wave)}: ${each}`;
  return inconclusive.length === 0 ? all : `paused ${all}: resumes by itself`;
}

function progressText(
  { gate, goodInARow, inARow, last, nextAt, ...it }: GateProgress,
  quote: (text: string) => string,
) {
  const seen = last === null ? 'not measured yet' : `last ${quote(last)}`;
  const tries = it.try <= it.tries ? `of ${it.tries}` : `(${plannedText(it.tries)})`;
  return `gate ${quote(gate)}: ${goodInARow} good in a row of ${inARow}, ${seen}, try ${it.try} ${tries}, next at ${nextAt}`;
}
