/** What happened in a play, as a table: who did what, when. */
import type { JournalEntry } from '../../../src/sandbox/state.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Play } from './play.ts';
import { START_MS } from '../world.ts';
import { folded, type Line } from './fold.ts';

export function storyOf({ played, world }: Play): string {
  const lines: Line[] = [
    ...world.server.runs.flatMap(({ workflowId, history }) =>
      history.flatMap((event) => {
        const what = describe(event);
        return what === null ? [] : [{ atMs: event.atMs, who: workflowId, what }];
      }),
    ),
    ...played.journal.map((entry) => ({ atMs: Date.parse(entry.at), who: 'service', what: answerOf(entry) })),
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
  const sorted = folded(lines.sort((a, b) => a.atMs - b.atMs));
  const width = Math.max(...sorted.map(({ who }) => who.length));
  const text = sorted.map(({ atMs, who, what }) => `${seconds(atMs)} ${who.padEnd(width)} ${what}`);
  const results = played.runs.map(
    ({ workflowId, result }) =>
      `${workflowId}: ${result?.outcome ?? 'no result'}${result?.error ? `, ${result.error.message}` : ''}`,
  );
  return [...text, ...results].join('\n');
}

function answerOf({ by, request, answered, said, began, fault, asksToWaitMs }: JournalEntry): string {
  const parts = [
    answered,
    said,
    began && `begins ${began.kind} ${began.id}`,
    fault && `fault: ${FAULTS[fault] ?? fault}`,
    asksToWaitMs !== null && `wait ${asksToWaitMs} ms`,
  ];
  const what = parts.filter((it) => it !== null && it !== false).join(', ');
  return `${by === 'api' ? request : `another user: ${request}`} → ${what}`;
}

/** What the sandbox calls them says little to a reader. */
const FAULTS: Record<string, string> = {
  true: 'answers late',
  none: 'never answers',
  status: 'answers with an error',
  body: 'answers with rubbish',
  cut: 'breaks off its answer',
};

const seconds = (ms: number) => ((ms - START_MS) / 1_000).toFixed(3).padStart(10);

/** Null for what only moves the protocol on. */
function describe(event: HistoryEvent): string | null {
  switch (event.kind) {
    case 'activityScheduled':
      return `asks for ${event.type}`;
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
