/** The Prometheus that gates ask, over a network of the simulator. */
import { NoAnswer } from '../../../src/site-check/index.ts';
import type { GetPage } from '../../../src/gates/index.ts';
import type { WorkerParts } from './parts.ts';

/** One value, one for each series, a status, or no answer. */
type Reading = string | Record<string, string> | { status: number; error?: string } | null;

export interface Meter {
  /** What was asked, in order. */
  readonly asked: { atMs: number; query: string }[];
  /** @param index how many questions came before */
  shows: (query: string, index: number) => Reading;
}

export const createMeter = (): Meter => ({ asked: [], shows: () => ({}) });

export const createGetPage =
  ({ clock, tape, process, meter, hazard }: WorkerParts): GetPage =>
  async ({ url }) => {
    hazard('gate to be measured');
    await process.sleep(1 + tape.choose('gate', 30));
    const query = url.searchParams.get('query') ?? '';
    const reading = meter.shows(query, meter.asked.push({ atMs: clock.nowMs, query }) - 1);
    await process.sleep(1 + tape.choose('measured', 30));
    hazard('gate measured');
    if (reading === null) throw new NoAnswer('no answer (ECONNREFUSED)');
    if (typeof reading !== 'string' && typeof reading['status'] === 'number')
      return page(reading['status'], { status: 'error', errorType: 'x', error: reading['error'] ?? 'no' });
    const series = typeof reading === 'string' ? [['', reading]] : Object.entries(reading);
    const result = series.map(([name, value]) => ({
      metric: name === '' ? {} : { instance: name },
      value: [clock.nowMs / 1_000, value],
    }));
    return page(200, { status: 'success', data: { resultType: 'vector', result } });
  };

const page = (status: number, body: object) => ({ status, headers: {}, body: JSON.stringify(body) });
