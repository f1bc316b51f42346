/** The SDK's runtime of this process. Imported before anything connects, because the SDK takes a logger no later. */
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { installRuntime } from '../../src/worker/install-runtime.ts';
import { atEnd } from './at-end.ts';

const lines: string[] = [];
export const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });

installRuntime(log);
// A process whose tests start no worker would stay up. Registered first, so it runs last.
const runtime = Runtime.instance();
atEnd(() => runtime.shutdown());

/** The log of the workers of this process. */
export const workerLog = (): string => lines.join('');
