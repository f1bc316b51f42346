/** What a batch of plays must have met: draws that become too tame are noticed. */
import type { Play } from '../plays/play.ts';
import type { Situations } from './situation.ts';
import { SITUATIONS_OF_HISTORIES } from './situations-of-histories.ts';
import { SITUATIONS_OF_RESULTS } from './situations-of-results.ts';

const SITUATIONS: Situations = {
  ...SITUATIONS_OF_RESULTS,
  ...SITUATIONS_OF_HISTORIES,
  'a worker is killed': ({ world }) => world.deeds.some(({ what }) => what === 'SIGKILL worker'),
  'a worker is stopped': ({ world }) => world.deeds.some(({ what }) => what === 'SIGSTOP worker'),
  'Temporal is down': ({ world }) => world.deeds.some(({ what }) => what === 'SIGKILL server'),
  'the service is down': ({ world }) => world.outages.length > 0,
};

export const situationsIn = (play: Play): string[] => Object.keys(SITUATIONS).filter((name) => SITUATIONS[name]!(play));

export const notMet = (met: ReadonlySet<string>): string[] => Object.keys(SITUATIONS).filter((name) => !met.has(name));
