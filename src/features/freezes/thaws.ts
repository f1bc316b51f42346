/**
 * Waits until nothing is frozen. It sleeps until the known end, and looks now and then, because a freeze may end
 * earlier or later. A signal wakes it. A waiting run holds no lock; each resumes at its own offset.
 */
import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { FrozenBy, Held } from './shapes.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { SIGNALS } from '../../contract/names.ts';
import type { WaitingForThaw } from '../../contract/waiting.ts';
import { nextLookMs, outlasts, spreadOf } from './rules.ts';

const thawedSignal = defineSignal(SIGNALS.thawed);

/** Whether a signal arrived since the last look. */
interface ThawSignals {
  readonly isPending: boolean;
  take(): void;
}

/** A flood of signals costs a bounded number of looks. */
function listenForThaws(): ThawSignals {
  let isPending = false;
  let left: number = HISTORY_BUDGET.maxThawSignals;
  setHandler(thawedSignal, () => void (isPending = left > 0), {
    description: 'A freeze was ended: look again now.',
  });
  return {
    get isPending() {
      return isPending;
    },
    take() {
      if (isPending) left -= 1;
      isPending = false;
    },
  };
}

export interface Thaws {
  readonly signals: ThawSignals;
  count: number;
  spentMs: number;
}

export const createThaws = (): Thaws => ({ signals: listenForThaws(), count: 0, spentMs: 0 });

/** @returns why it may not wait again, or null */
export const tooManyThaws = ({ count }: Thaws): string | null =>
  count < HISTORY_BUDGET.maxThaws ? null : `it waited ${count} times already`;

export interface ThawWait {
  look: () => Promise<FrozenBy[]>;
  /** The limit of all its waits together. */
  freezeWaitMs: number;
  /** When to give up in any case, in milliseconds since 1970. Default: never. */
  deadlineMs?: number;
  isOver: () => boolean;
  onLook: (waiting: WaitingForThaw) => void;
}

/**
 * `free`: nothing was frozen at the last look. `outlasts`: the freeze ends too late. `over`: `isOver` returned true.
 */
export type ThawEnd = { kind: 'free' } | { kind: 'over' } | { kind: 'outlasts'; by: FrozenBy[] };

/** Records the wait in the result. @param first what is holding it back, as far as known */
export async function awaitThaw(
  { thaws, result }: { thaws: Thaws; result: { held: Held[] } },
  { look, freezeWaitMs, deadlineMs = Infinity, ...wait }: ThawWait,
  first: FrozenBy[],
): Promise<ThawEnd> {
  thaws.count += 1;
  const begunMs = Date.now();
  const note = recordHeld(result);
  note(first);
  const lookAndNote = async () => {
    const by = await look();
    note(by);
    return by;
  };
  const endsMs = Math.min(begunMs + freezeWaitMs - thaws.spentMs, deadlineMs);
  const end = await lookUntilFree({ ...wait, ...thaws, look: lookAndNote, endsMs }, first);
  thaws.spentMs += Date.now() - begunMs;
  if (end.kind !== 'free') note([], end.kind === 'over' ? 'cancelled' : 'gave_up');
  return end;
}

type Looking = Omit<ThawWait, 'freezeWaitMs' | 'deadlineMs'> & Pick<Thaws, 'signals' | 'spentMs'> & { endsMs: number };

async function lookUntilFree(wait: Looking, first: FrozenBy[]): Promise<ThawEnd> {
  const begunMs = Date.now();
  const since = new Date(begunMs).toISOString();
  let by: FrozenBy[] | null = first;
  for (;;) {
    while (by !== null && by.length > 0) {
      const nowMs = Date.now();
      if (outlasts(by, nowMs, wait.endsMs)) return { kind: 'outlasts', by };
      const lookMs = nextLookMs(by, nowMs, wait.spentMs + nowMs - begunMs, wait.endsMs);
      wait.onLook({ kind: 'freeze', by, since, nextLookAt: new Date(lookMs).toISOString() });
      await condition(() => wait.signals.isPending || wait.isOver(), lookMs - nowMs, {
        summary: 'until a freeze ends',
      });
      wait.signals.take();
      by = await lookUnlessOver(wait);
    }
    if (by !== null && !wait.isOver()) {
      await condition(wait.isOver, spreadOf(workflowInfo().workflowId), { summary: 'so that not all go on at once' });
      by = await lookUnlessOver(wait);
    }
    if (by === null || wait.isOver()) return { kind: 'over' };
    if (by.length === 0) return { kind: 'free' };
  }
}

/** Null if it is over: the answer may take long, and never come while no worker can read a freeze. */
const lookUnlessOver = async ({ look, isOver }: Pick<ThawWait, 'look' | 'isOver'>): Promise<FrozenBy[] | null> =>
  isOver() ? null : unlessOver(look(), isOver);

/** @returns the answer, or null if it is over before */
export async function unlessOver<T>(answer: Promise<T>, isOver: () => boolean): Promise<T | null> {
  let found: T | null = null;
  let failure: { error: unknown } | null = null;
  answer.then(
    (it) => void (found = it),
    (error: unknown) => void (failure = { error }),
  );
  await condition(() => found !== null || failure !== null || isOver());
  if (failure !== null) throw (failure as { error: unknown }).error;
  return found;
}

/** Records in a result what it waits for. @returns a function to call with everything that holds at the moment */
function recordHeld(result: { held: Held[] }): (by: readonly FrozenBy[], end?: Held['end']) => void {
  const open = new Map<string, Held>();
  return (by, end = 'passed') => {
    const now = new Date().toISOString();
    for (const [name, held] of open) {
      if (by.some((it) => it.name === name)) continue;
      Object.assign(held, { to: now, end });
      open.delete(name);
    }
    for (const { kind, name, by: who = null, reason } of by) {
      if (open.has(name)) continue;
      const held: Held = { for: kind, name, from: now, to: null, end: null, by: who, why: reason };
      open.set(name, held);
      result.held.push(held);
    }
  };
}
