/** What happened in a play, as a table: who did what, when. */
import type { HistoryEvent } from '../core/events.ts';
import type { Play } from './play.ts';
import { START_MS } from '../world.ts';

interface Line {
  atMs: number;
  who: string;
  what: string;
}

export function storyOf({ played, world }: Play): string {
  const lines: Line[] = [
    ...world.server.runs.flatMap(({ workflowId, history }) =>
      history.flatMap((event) => {
        const what = describe(event);
        return what === null ? [] : [{ atMs: event.atMs, who: workflowId, what }];
      }),
    ),
    ...played.journal.map(({ at, by, request, answered, said, fault }) => ({
      atMs: Date.parse(at),
      who: 'service',
      what: `${by === 'api' ? request : `another user: ${request}`} → ${[answered, said, fault].filter((it) => it !== null).join(', ')}`,
    })),
    ...(played.outages ?? []).map(({ fromMs, toMs }) => ({
      atMs: fromMs,
      who: 'faults',
      what: `the service is down for ${toMs - fromMs} ms`,
    })),
    ...played.deeds.map(({ what, forMs, fromMs }) => ({
      atMs: fromMs,
      who: 'faults',
      what: `${what} for ${forMs} ms`,
    })),
  ];
  const sorted = lines.sort((a, b) => a.atMs - b.atMs);
  const width = Math.max(...sorted.map(({ who }) => who.length));
  const text = sorted.map(({ atMs, who, what }) => `${seconds(atMs)} ${who.padEnd(width)} ${what}`);
  const results = played.runs.map(
    ({ workflowId, result }) =>
      `${workflowId}: ${result?.outcome ?? 'no result'}${result?.error ? `, ${result.error.message}` : ''}`,
  );
  return [...text, ...results].join('\n');
}

const seconds = (ms: number) => ((ms - START_MS) / 1_000).toFixed(3).padStart(10);

/** Null for what only moves the protocol on. */
function describe(event: HistoryEvent): string | null {
  switch (event.kind) {
    case 'localActivity':
    case 'activityScheduled':
      return `${event.kind === 'localActivity' ? 'has made' : 'asks for'} ${event.type}`;
    case 'timerStarted':
      return `waits ${event.ms} ms`;
    case 'childInitiated':
      return `starts ${event.workflowId}`;
    case 'childRefused':
      return `${event.workflowId} runs already`;
    case 'signalInitiated':
      return `signals ${event.signal} to ${event.target.workflowId}`;
    case 'signaled':
      return `is signalled ${event.signal}`;
    case 'activityClosed':
      return `${event.type}: ${'result' in event.outcome ? 'answered' : (event.outcome.failure.message ?? 'failed')}`;
    case 'cancelRequested':
    case 'terminated':
    case 'completed':
    case 'failed':
    case 'taskTimedOut':
    case 'taskFailed':
      return event.kind;
    default:
      return null;
  }
}
