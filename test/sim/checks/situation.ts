/** What a play may show, by name. */
import type { Play } from '../plays/play.ts';

export type Situations = Record<string, (play: Play) => boolean>;

/** One situation for each of these. */
export const oneForEach = <T extends string>(
  names: readonly T[],
  text: (name: T) => string,
  shows: (name: T) => Situations[string],
): Situations => Object.fromEntries(names.map((name) => [text(name), shows(name)]));
