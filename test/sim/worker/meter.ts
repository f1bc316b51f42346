/** The Prometheus and the pages that gates ask, over a network of the simulator. */
import { NoAnswer } from '../../../src/site-check/index.ts';
import type { GetPage } from '../../../src/features/gates/worker-measure.ts';
import type { WorkerParts } from './parts.ts';

/** One value, one for each series, a status, or no answer. */
type Reading = string | Record<string, string> | { status: number; error?: string } | null;

export interface Meter {
  /** What was asked, in order: a query, or the address of a page. */
  readonly asked: { atMs: number; query: string }[];
  /** @param index how many questions came before */
  shows: (query: string, index: number) => Reading;
  /** The JSON of a page, or null for no answer. */
  page: (address: string, index: number) => object | null;
}

export const createMeter = (): Meter => ({ asked: [], shows: () => ({}), page: () => null });

export const createGetPage =
  ({ clock, tape, process, meter, hazard }: WorkerParts): GetPage =>
  async ({ url }) => {
    hazard('gate to be measured');
    await process.sleep(1 + tape.choose('gate', 30));
    const isPage = !url.pathname.endsWith('/api/v1/query');
    const query = isPage ? url.href : (url.searchParams.get('query') ?? '');
    const index = meter.asked.push({ atMs: clock.nowMs, query }) - 1;
    const shown = isPage ? { json: meter.page(query, index) } : { reading: meter.shows(query, index) };
    await process.sleep(1 + tape.choose('measured', 30));
    hazard('gate measured');
    if ('json' in shown) return page(200, answered(shown.json));
    return page(...prometheus(answered(shown.reading), clock.nowMs));
  };

function answered<T>(shown: T | null): T {
  if (shown === null) throw new NoAnswer('no answer (ECONNREFUSED)');
  return shown;
}

function prometheus(reading: NonNullable<Reading>, nowMs: number): [status: number, body: object] {
  if (typeof reading !== 'string' && typeof reading['status'] === 'number')
    return [reading['status'], { status: 'error', errorType: 'x', error: reading['error'] ?? 'no' }];
  const series = typeof reading === 'string' ? [['', reading]] : Object.entries(reading);
  const result = series.map(([name, value]) => ({
    metric: name === '' ? {} : { instance: name },
    value: [nowMs / 1_000, value],
  }));
  return [200, { status: 'success', data: { resultType: 'vector', result } }];
}

const page = (status: number, body: object) => ({ status, headers: {}, body: JSON.stringify(body) });
