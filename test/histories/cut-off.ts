/** The history of an execution that is still open: what a worker replays that takes it over. */
import type { Recorded } from './kept.ts';

type Events = NonNullable<Recorded['history']['events']>;

/** @returns null for a history of one task, which is never in flight between two */
export function cutOff<R extends Recorded>({ history, ...rest }: R): R | null {
  const events = history.events ?? [];
  const begun = taskStarts(events);
  const last = begun[Math.floor(begun.length / 2)];
  if (last === undefined || begun.length < 2) return null;
  return { ...rest, history: { events: events.slice(0, last + 1) } } as unknown as R;
}

/** Where workflow tasks start: there a worker takes it. */
const taskStarts = (events: Events): number[] =>
  events.flatMap(({ workflowTaskStartedEventAttributes }, index) =>
    workflowTaskStartedEventAttributes === undefined || workflowTaskStartedEventAttributes === null ? [] : [index],
  );
