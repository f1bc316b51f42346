/** The options of the benchmark: those of all parts, and each part's own. */
import { parseArgs } from 'node:util';

const DEFAULT_FOLDER = '.belay/bench';

export interface Options {
  isQuick: boolean;
  /** How long all of it may take; undefined: as planned. */
  minutes: number | undefined;
  folder: string;
  /** The part's own options that were given. */
  given: Partial<Record<string, string>>;
  positionals: string[];
}

/** @param own names of options that take a value. @throws Error that names an unknown option */
export function parseOptions(args: string[], own: readonly string[], allowPositionals = false): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals,
    options: {
      ...Object.fromEntries(own.map((name) => [name, { type: 'string' as const }])),
      quick: { type: 'boolean', default: false },
      out: { type: 'string', default: DEFAULT_FOLDER },
      minutes: { type: 'string' },
    },
  });
  const { quick, out, minutes, ...given } = values as { quick: boolean; out: string } & Record<string, string>;
  const limit = minutes === undefined ? undefined : positive({ minutes }, 'minutes', 1);
  return { isQuick: quick, minutes: limit, folder: out, given, positionals };
}

/** @throws Error unless it is a number above zero */
export function positive(given: Options['given'], name: string, otherwise: number): number {
  return numbers(given, name, [otherwise])[0]!;
}

/** A list such as `100,400`. @throws Error unless all are numbers above zero */
export function numbers(given: Options['given'], name: string, otherwise: readonly number[]): number[] {
  const text = given[name];
  if (text === undefined) return [...otherwise];
  const values = text.split(',').map(Number);
  if (values.some((value) => !(value > 0))) throw new Error(`--${name} ${text}: use numbers above zero, such as 100`);
  return values;
}
