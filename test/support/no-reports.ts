/** For workers and replays whose metrics no test reads: the SDK logs an error for each report it cannot pass on. */
import { pino } from 'pino';
import { createMonitoring, metricSinks } from '../../src/worker/monitoring.ts';

export const NO_REPORTS = { sinks: metricSinks(createMonitoring().metrics, pino({ level: 'silent' })) };
