/** Judges numbers by limits: every series counts, and the worst one decides. Pure. */
import type { Limits } from './measured.ts';

export interface Sample {
  /** Labels as Prometheus writes them: `{instance="a"}`; empty for a scalar. */
  series: string;
  /** As Prometheus writes numbers. */
  value: string;
}

export interface Judged {
  state: 'good' | 'bad' | 'none';
  value: string | null;
  text: string;
}

const WORST_FIRST = ['bad', 'none', 'good'] as const;

export function judgeSamples(samples: readonly Sample[], limits: Limits): Judged {
  if (samples.length === 0) return { state: 'none', value: null, text: 'no data: no series' };
  const [worst] = samples
    .map((sample) => ({ ...judgeOne(sample, limits), excess: excessOf(numberOf(sample.value), limits) }))
    .sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state) || compare(b.excess, a.excess));
  const { state, value, text } = worst!;
  return { state, value, text };
}

function judgeOne({ series, value }: Sample, limits: Limits): Judged {
  const number = numberOf(value);
  const of = series === '' ? '' : ` of ${series}`;
  if (Number.isNaN(number)) return { state: 'none', value, text: `no data: NaN${of}` };
  const { min = -Infinity, max = Infinity } = limits;
  if (number < min) return { state: 'bad', value, text: `${value} < ${min}${of}` };
  if (number > max) return { state: 'bad', value, text: `${value} > ${max}${of}` };
  return { state: 'good', value, text: `${value} (${limitsText(limits)})${of}` };
}

/** How near it is to a limit, or how far beyond. */
const excessOf = (value: number, { min = -Infinity, max = Infinity }: Limits): number =>
  Number.isNaN(value) ? 0 : Math.max(min - value, value - max);

/** Infinities are equal to themselves. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const limitsText = ({ min, max }: Limits): string =>
  [...(min === undefined ? [] : [`min ${min}`]), ...(max === undefined ? [] : [`max ${max}`])].join(', ');

/** Prometheus writes `+Inf`, `-Inf` and `NaN`. */
export function numberOf(text: string): number {
  const infinite = /^([+-]?)(Inf|Infinity)$/i.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  return text.trim() === '' ? NaN : Number(text);
}
