/** The call that reports to healthchecks how a run stands. Pure. */
import type { ReportedState } from './shapes.ts';

/** A log entry does not count as a sign of life: the silence goes on. */
const PATHS: Record<ReportedState, string> = {
  waiting: '/log',
  begun: '/start',
  completed: '',
  failed: '/fail',
  unclear: '/fail',
  cancelled: '/log',
  refused: '/fail',
};

/** @param runId a UUID that distinguishes runs that overlap */
export function healthchecksAddress(address: string, state: ReportedState, runId: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, '') + PATHS[state];
  url.searchParams.set('rid', runId);
  return url.href;
}
