/** What `in-flight` compares: ways to wait, or builds of Belay. */
import type { Waits } from '../../src/contract/run.ts';
import { commitIn } from '../report/machine.ts';
import type { Options } from '../report/options.ts';
import type { Service } from '../service/start-service.ts';
import { openStack, type BelayStack } from './belay-stack.ts';
import { openBuild } from './build-stack.ts';

export interface InFlightWay {
  way: string;
  waits: Waits | undefined;
  /** Of the build, if builds are compared. */
  commit?: string | null;
  open(service: Service): Promise<BelayStack>;
}

/** The first is what the others are compared with, and the second is the same again. */
const WAYS: readonly InFlightWay[] = [
  { way: 'loop', waits: 'loop', open: openStack },
  { way: 'loop again', waits: 'loop', open: openStack },
  { way: 'pooled', waits: 'pooled', open: openStack },
];
const QUICK_WAYS = 'loop,pooled';

/** @throws Error that names what was given and is not known */
export async function waysOf({ ways, builds }: Options['given'], isQuick: boolean): Promise<readonly InFlightWay[]> {
  if (builds === undefined) return namedWays(ways ?? (isQuick ? QUICK_WAYS : undefined));
  if (ways !== undefined) throw new Error('--ways: leave it out, builds wait as they do by default');
  return Promise.all(builds.split(',').map(buildOf));
}

function namedWays(given: string | undefined): readonly InFlightWay[] {
  const names = given?.split(',') ?? WAYS.map(({ way }) => way);
  return names.map((name) => {
    const found = WAYS.find(({ way }) => way === name);
    if (found === undefined) throw new Error(`--ways ${given}: choose from ${WAYS.map(({ way }) => way).join(', ')}`);
    return found;
  });
}

/** @param given such as `before=../belay-before` */
async function buildOf(given: string): Promise<InFlightWay> {
  const [, way, checkout] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (way === undefined || checkout === undefined) throw new Error(`--builds ${given}: use <name>=<checkout>`);
  const commit = await commitIn(checkout);
  return { way, waits: undefined, commit, open: (service) => openBuild(checkout, service) };
}
