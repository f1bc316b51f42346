/** Scenarios played at once against one Temporal server, and the faults of the server and its workers meanwhile. */
import fc from 'fast-check';
import { between } from './chance.ts';
import { EVERYTHING, type Mix } from './mix.ts';
import { scenario, type Scenario } from './scenario.ts';

export interface Batch {
  scenarios: Scenario[];
  /** A second worker continues when the first one is killed. */
  workers: number;
  deeds: Deed[];
}

export interface Deed {
  what: DeedKind;
  /** A time after the batch began, or the number of requests with a possible effect after which it happens. */
  moment: { atMs: number } | { posts: number };
  /** The time until it is undone: a killed process restarts, and a stopped one continues. */
  forMs: number;
}

const DEEDS = [
  'SIGKILL worker',
  'SIGKILL server',
  'SIGKILL both',
  'SIGSTOP worker',
  'SIGTERM worker',
  'swap token',
  'limit rate',
] as const;
type DeedKind = (typeof DEEDS)[number];

/** The kinds of kill that a batch can require. */
export type Killing = 'SIGKILL worker' | 'SIGKILL server';

/** Most scenarios of a batch are running at these times. */
const moment = (size: number) =>
  fc.oneof(
    between(4_000, 20_000).map((atMs) => ({ atMs })),
    between(1, 2 * size).map((posts) => ({ posts })),
  );

const deed = (size: number, ...kinds: DeedKind[]): fc.Arbitrary<Deed> =>
  fc
    .record({
      what: fc.constantFrom(...kinds),
      moment: moment(size),
      forMs: fc.oneof(between(0, 1_500), between(1_500, 9_000)),
    })
    // With a longer outage most runs of the batch end refused.
    .map((drawn) => (drawn.what === 'swap token' ? { ...drawn, forMs: drawn.forMs % 1_500 } : drawn));

export interface Wanted {
  seed: number;
  size: number;
  mix?: Partial<Mix>;
  /** Kinds that are always drawn, one deed each. */
  killing?: Killing[];
  /** Only these deeds. */
  calm?: boolean;
}

export function drawBatch({ seed, size, mix = {}, killing = [], calm = false }: Wanted): Batch {
  const all = { ...EVERYTHING, ...mix };
  const batch = fc.record({
    scenarios: fc.array(scenario(all), { minLength: size, maxLength: size }),
    workers: fc.constantFrom(1, 1, 2),
    deeds: fc
      .tuple(
        fc.tuple(...killing.map((kind) => deed(size, kind))),
        fc.array(deed(size, ...DEEDS), { maxLength: calm ? 0 : 3 }),
      )
      .map(([sure, more]) => [...sure, ...more]),
  });
  return fc.sample(fc.noBias(batch), { seed, numRuns: 1 })[0]!;
}
