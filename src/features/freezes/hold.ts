/**
 * A frozen run is refused, or waits until the freezes end. It holds no lock and no operation meanwhile. A frozen rollout
 * waits in the same way (rollout.ts).
 */
import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  FREEZES_FACT,
  type FrozenBy,
  type FrozenParts,
  type Held,
  type LetOff,
  type OverrideAnswer,
  recordExempted,
} from './shapes.ts';
import { factOf } from '../../contract/facts.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { SIGNALS } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { RunInput } from '../../contract/run.ts';
import { targetsInput, type Target } from '../../contract/target.ts';
import type { WaitingForThaw } from '../../contract/waiting.ts';
import { frozenText, tooLateText, tooLongText } from './text.ts';
import { heldPart, nextLookMs, outlasts, spreadOf, type HeldPart } from './rules.ts';
import { judgeFreezes } from '../../workflows/activity-proxies.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { Hold, RunPart } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';

/** The part of a run that is about to begin. */
interface NextPart {
  backsUp: boolean;
  /** In their order. The run waits for the first one if it is frozen. */
  targets: readonly Target[];
  /** True to ask about the targets after the first one, too. */
  keepGoing?: boolean;
}

export function freezeHold(run: RunState): Hold {
  const { input, plan, targets, type } = run;
  const thaws = listenForThaws();
  const whole: NextPart = { backsUp: input.serverId !== undefined, targets };
  const waits = plan.ifFrozen === 'wait' && type !== 'watchDeployment';
  const { frozen: frozenAtFirst, override } = factOf(run.facts, FREEZES_FACT) ?? {};
  const letOff = letOffBy(override);
  let isFirst = true;

  const heldIn = (next: NextPart, frozen: FrozenParts | null | undefined, mayPass = false): HeldPart | null =>
    heldPart(frozen, { serverId: input.serverId, targets: next.targets }, mayPass);

  /** A run does not begin if its first deployment is frozen, because its backup would be of no use. */
  function refuseFrozen(frozen: FrozenParts | null | undefined): Conclusion | null {
    if (type === 'watchDeployment' || waits) return null;
    const held = heldIn(whole, frozen, plan.keepGoing);
    return held === null ? null : conclude('not_started', 'Frozen', `${held.what}: ${frozenText(held.by)}`);
  }

  async function ask({ backsUp, targets: next, keepGoing }: NextPart): Promise<FrozenParts | null> {
    const asked = judgeFreezes({
      ...targetsInput(next),
      ...definedFields({ serverId: input.serverId, fleet: input.fleet, keepGoing }),
      backsUp,
      letOff,
      atMs: Date.now(),
    });
    // A cancelled run starts nothing, so it needs no answer.
    return (await unlessOver(asked, () => run.cancellation.requested))?.frozen ?? null;
  }

  const askFirst = (next: NextPart) => ask({ ...next, targets: next.targets.slice(0, 1) });

  /** Waits until the next part may begin. @param first what was frozen a moment ago */
  async function waitFor(next: NextPart, first: FrozenParts | null): Promise<Conclusion | null> {
    const partHeld = (frozen: FrozenParts | null): HeldPart =>
      heldIn(next, frozen) ?? { what: 'nothing was started', by: [] };
    let held = partHeld(first);
    const tooMany = tooManyThaws(thaws);
    if (tooMany !== null) return concludeFrozen(held, tooMany);
    return run.during('frozen', async () => {
      const { freezeWaitMs } = plan;
      const deadlineMs = run.mayBeginUntilMs();
      const look = async () => {
        held = partHeld(await askFirst(next));
        return held.by;
      };
      const isOver = () => run.cancellation.requested;
      const onLook = (waiting: WaitingForThaw) => run.setWaiting(waiting);
      const wait = { look, freezeWaitMs, deadlineMs, isOver, onLook };
      const end = await awaitThaw({ thaws, result: run.result }, wait, held.by);
      if (end.kind === 'free') return null;
      if (end.kind === 'over')
        return conclude('not_started', 'Cancelled', `${held.what}: cancelled while it was frozen`);
      const why = end.endsMs === deadlineMs ? tooLateText(deadlineMs) : tooLongText(freezeWaitMs);
      return concludeFrozen({ ...held, by: end.by }, why);
    });
  }

  return {
    refuse: () => applyOverride(input, run.result, override) ?? refuseFrozen(frozenAtFirst),
    async begin() {
      const frozen = isFirst ? (frozenAtFirst ?? null) : await ask({ ...whole, keepGoing: plan.keepGoing });
      isFirst = false;
      const refusal = refuseFrozen(frozen);
      if (refusal !== null) return refusal;
      if (heldIn(whole, frozen) === null || !waits) return null;
      return (await waitFor(whole, frozen)) ?? 'waited';
    },
    reopens: ({ outcome, error }) => waits && outcome === 'not_started' && error?.type === 'Frozen',
    async wait(part: RunPart) {
      const next = part.kind === 'backup' ? { backsUp: true, targets } : { backsUp: false, targets: [part.target] };
      return waitFor(next, await askFirst(next));
    },
    carries: () => (letOff.length === 0 ? {} : { letOff }),
  };
}

function concludeFrozen({ what, by }: HeldPart, why: string): Conclusion {
  return conclude('not_started', 'Frozen', by.length === 0 ? `${what}: ${why}` : `${what}: ${frozenText(by)}; ${why}`);
}

/*
 * Waits until nothing is frozen. It sleeps until the known end, and looks now and then, because a freeze may end earlier
 * or later. A signal wakes it. A waiting run holds no lock; each resumes at its own offset.
 */

const thawedSignal = defineSignal(SIGNALS.thawed);

/** All waits of a run or rollout together. */
export interface Thaws {
  /** Whether a signal arrived since the last look. */
  isWoken: boolean;
  /** How many more looks a signal may cause, so that a flood of signals does not fill the history. */
  looksLeft: number;
  count: number;
  spentMs: number;
}

export function listenForThaws(): Thaws {
  const thaws: Thaws = { isWoken: false, looksLeft: HISTORY_BUDGET.maxThawSignals, count: 0, spentMs: 0 };
  setHandler(thawedSignal, () => void (thaws.isWoken = thaws.looksLeft > 0), {
    description: 'A freeze was ended: look again now.',
  });
  return thaws;
}

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
 * `free`: nothing was frozen at the last look. `outlasts`: the freeze lasts beyond `endsMs`. `over`: `isOver` returned
 * true.
 */
export type ThawEnd = { kind: 'free' } | { kind: 'over' } | { kind: 'outlasts'; by: FrozenBy[]; endsMs: number };

/** Records the wait in the result. @param first what is holding it back, as far as known */
export async function awaitThaw(
  { thaws, result }: { thaws: Thaws; result: { held: Held[] } },
  { look, freezeWaitMs, deadlineMs = Infinity, ...wait }: ThawWait,
  first: FrozenBy[],
): Promise<ThawEnd> {
  thaws.count += 1;
  const beganMs = Date.now();
  const note = recordHeld(result);
  note(first);
  const endsMs = Math.min(beganMs + freezeWaitMs - thaws.spentMs, deadlineMs);
  const end = await lookUntilFree(thaws, { ...wait, look, note, endsMs }, first);
  thaws.spentMs += Date.now() - beganMs;
  if (end.kind !== 'free') note([], end.kind === 'over' ? 'cancelled' : 'gave_up');
  return end;
}

type Looking = Omit<ThawWait, 'freezeWaitMs' | 'deadlineMs'> & { endsMs: number; note: (by: FrozenBy[]) => void };

async function lookUntilFree(thaws: Thaws, wait: Looking, first: FrozenBy[]): Promise<ThawEnd> {
  const beganMs = Date.now();
  const since = new Date(beganMs).toISOString();
  let by: FrozenBy[] | null = first;
  for (;;) {
    while (by !== null && by.length > 0) {
      const nowMs = Date.now();
      if (outlasts(by, nowMs, wait.endsMs)) return { kind: 'outlasts', by, endsMs: wait.endsMs };
      const lookMs = nextLookMs(by, nowMs, thaws.spentMs + nowMs - beganMs, wait.endsMs);
      wait.onLook({ kind: 'freeze', by, since, nextLookAt: new Date(lookMs).toISOString() });
      await condition(() => thaws.isWoken || wait.isOver(), lookMs - nowMs, {
        summary: 'until a freeze ends',
      });
      if (thaws.isWoken) thaws.looksLeft -= 1;
      thaws.isWoken = false;
      by = await lookUnlessOver(wait);
    }
    if (by !== null && !wait.isOver()) {
      const spreadMs = spreadOf(workflowInfo().workflowId);
      wait.onLook({ kind: 'freeze', by, since, nextLookAt: new Date(Date.now() + spreadMs).toISOString() });
      await condition(wait.isOver, spreadMs, {
        summary: 'so that not all continue at once',
      });
      by = await lookUnlessOver(wait);
    }
    if (by === null || wait.isOver()) return { kind: 'over' };
    if (by.length === 0) return { kind: 'free' };
  }
}

/** Null if it is over: the answer may take long, and never come while no worker can read a freeze. */
async function lookUnlessOver({ look, note, isOver }: Looking): Promise<FrozenBy[] | null> {
  const by = isOver() ? null : await unlessOver(look(), isOver);
  if (by !== null) note(by);
  return by;
}

/** @returns the answer, or null if it is over by then, even in the same moment */
export async function unlessOver<T>(answer: Promise<T>, isOver: () => boolean): Promise<T | null> {
  let isAnswered = false;
  const answered = () => void (isAnswered = true);
  answer.then(answered, answered);
  await condition(() => isAnswered || isOver());
  return isOver() ? null : answer;
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

/** What a run or rollout is exempted from. @param answer what the worker said when the workflow began */
export const letOffBy = (answer: OverrideAnswer | undefined): LetOff[] =>
  answer !== undefined && 'letOff' in answer ? answer.letOff : [];

/** Records who exempted a run or rollout from the freezes that its input names, and why. @returns null if it may start */
export function applyOverride(
  { override }: Pick<RunInput, 'override'>,
  result: { held: Held[] },
  answer: OverrideAnswer | undefined,
): Conclusion | null {
  if (override === undefined) return null;
  if (answer === undefined) return conclude('not_started', 'Internal', 'the worker did not judge the override');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  for (const { kind, name } of answer.letOff) recordExempted(result, kind, name, override);
  return null;
}
