/** `belay schedule` applies and controls the schedules that start runs and rollouts. */
import colors from 'picocolors';
import { requireConfiguration } from '../../config/load.ts';
import { printAnswer } from '../../process/json-document.ts';
import { planSchedules, type PlannedSchedule } from './config.ts';
import { localText } from '../../request/calendar/local-time.ts';
import type { Belay, Firing, PausedBefore, ScheduleChange, ScheduleState } from '../../starter.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { frozenText } from '../freezes/text.ts';
import { policyOf, type Policy } from '../../config/policy.ts';
import { plainText, shellWord } from '../../contract/safe-text.ts';
import { colorize, noteUnreadable } from '../../cli/run-text.ts';
import { reportEndpoints, withBelay } from '../../cli/open-belay.ts';
import { print } from '../../process/print.ts';
import type { FrozenBy } from '../freezes/shapes.ts';
import type { ScheduledInput, Times } from './shapes.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { nextSpan } from '../../request/calendar/local-spans.ts';
import { partsOf } from '../rollouts/shapes.ts';
import { operationsOf, type PlannedOperation } from '../../contract/target.ts';

export interface ApplyOptions {
  service?: string;
  dryRun?: boolean;
  prune?: boolean;
  json?: boolean;
}

export async function applySchedules({ dryRun, prune, service: named, json: asJson }: ApplyOptions): Promise<void> {
  await reportEndpoints(named);
  const configuration = await requireConfiguration();
  const planned = planSchedules(configuration, new Date().getUTCFullYear());
  const fleets = prune === true ? Object.keys(configuration.fleets ?? {}) : [];
  const policy = policyOf(configuration);
  await withBelay(
    async (belay) => {
      const changes = await belay.schedules.plan(
        planned.map(({ definition }) => definition),
        fleets,
      );
      const outlooks = planned.map((it) => outlookOf(it, policy, Date.now()));
      if (asJson !== true) {
        print([
          ...changes.flatMap(changeLines),
          ...outlooks.map(nextLine),
          ...outlooks.flatMap(movedLines),
          ...outlooks.flatMap(frozenLines),
          ...outlooks.flatMap(approvalLines),
        ]);
      }
      const applied = dryRun !== true;
      if (applied) await belay.schedules.apply(changes);
      const document = {
        applied,
        changes: changes.map(({ scheduleId, action, differences }) => ({ scheduleId, action, differences })),
        next: outlooks.map(({ scheduleId, next: times }) => ({ scheduleId, times })),
        moved: outlooks.map(({ scheduleId, moved: times }) => ({ scheduleId, times })),
        frozen: outlooks.map(({ scheduleId, frozen: firings }) => ({ scheduleId, firings })),
        approvals: outlooks.map(({ scheduleId, approvals: names }) => ({ scheduleId, names })),
      };
      printAnswer(asJson, document, summaryOf(changes, applied));
    },
    definedFields({ service: named }),
  );
}

const SIGNS = { create: '+', update: '~', delete: '-', none: ' ', unmanaged: '?' } as const;

function changeLines({ scheduleId, action, differences }: ScheduleChange): string[] {
  return [`${SIGNS[action]} ${scheduleId}: ${WORDS[action]}`, ...differences.map((line) => `    ${line}`)];
}

const WORDS = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  none: 'up to date',
  unmanaged: 'not in this file; delete it with `belay schedule delete`, or with --prune if its fleet is in the file',
};

type Outlook = ReturnType<typeof outlookOf>;

/** What a schedule will do, apart from what its definition says. */
function outlookOf({ definition, moved }: PlannedSchedule, policy: Policy, nowMs: number) {
  const { scheduleId, timeZone, calendars, input } = definition;
  // Leaves out the times that replace skipped ones when clocks change.
  const times = calendars.filter(({ year }) => year === null);
  return {
    scheduleId,
    timeZone,
    moved,
    next: nextOf(times, timeZone, nowMs),
    frozen: frozenFirings(input, times, policy, nowMs),
    approvals: askedByFirings(input.start, policy),
  };
}

const NEXT_SHOWN = 3;

/** @returns ISO 8601 times */
function nextOf(times: readonly Times[], timeZone: string, nowMs: number): string[] {
  const next: string[] = [];
  for (const ms of nextFirings(times, timeZone, nowMs)) {
    next.push(new Date(ms).toISOString());
    if (next.length === NEXT_SHOWN) break;
  }
  return next;
}

function nextLine({ scheduleId, timeZone, next }: Outlook): string {
  const times = next.map((at) => localText(new Date(at), timeZone));
  return `  ${scheduleId}: next ${times.join(', ') || 'never'} (${timeZone})`;
}

/** Shows only the next day on which clocks skip times of the schedule, because the other days are alike. */
function movedLines({ scheduleId, timeZone, moved }: Outlook): string[] {
  const today = new Date().toISOString().slice(0, 10);
  const upcoming = moved.filter(({ date }) => date >= today);
  const ofNextDay = upcoming.filter(({ date }) => date === upcoming[0]?.date);
  const [first] = ofNextDay;
  if (first === undefined) return [];
  const { date, to } = first;
  const at = `${String(to.hour).padStart(2, '0')}:${String(to.minute).padStart(2, '0')}`;
  const times = ofNextDay.map(({ time }) => time).join(', ');
  const starts = ofNextDay.length === 1 ? 'it starts' : 'it starts once,';
  return [`  ${scheduleId}: on ${date} clocks in ${timeZone} skip ${times}, so ${starts} at ${at} instead`];
}

/** Shows only the first firing, because the others are alike. */
function frozenLines({ scheduleId, timeZone, frozen }: Outlook): string[] {
  const [first] = frozen;
  if (first === undefined) return [];
  const more = frozen.length === 1 ? '' : `, and ${frozen.length - 1} more of the next firings`;
  return [`  ${scheduleId}: at ${localText(new Date(first.at), timeZone)} it is ${frozenText(first.by)}${more}`];
}

function approvalLines({ scheduleId, approvals }: Outlook): string[] {
  if (approvals.length === 0) return [];
  const asked = approvals.map((it) => plainText(it)).join(', ');
  return [`  ${scheduleId}: every firing waits for people (${asked}), and perhaps nobody is awake`];
}

function summaryOf(changes: ScheduleChange[], applied: boolean): string {
  const count = (action: ScheduleChange['action']) => changes.filter((it) => it.action === action).length;
  const words = applied ? ['created', 'updated', 'deleted'] : ['to create', 'to update', 'to delete'];
  const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
  return `${created} ${words[0]}, ${updated} ${words[1]}, ${deleted} ${words[2]}, ${count('none')} up to date`;
}

export async function printSchedules({ json: asJson }: { json?: boolean }): Promise<void> {
  const schedules = await withBelay((belay) => belay.schedules.list());
  noteUnreadable(
    schedules.map(({ scheduleId, unreadable }) => ({ workflowId: scheduleId, ...definedFields({ unreadable }) })),
  );
  const none = 'no schedules; create them with `belay schedule apply`';
  printAnswer(asJson, { schedules }, schedules.length === 0 ? none : schedules.flatMap(stateLines));
}

/** Returns the lines of one schedule in the list. */
export function stateLines(state: ScheduleState): string[] {
  const { scheduleId, answered, timeZone, paused, note, next, last, skipped, missed, unreadable } = state;
  const unknown = unreadable === undefined ? 'not created by Belay' : 'cannot be read';
  const when = answered ? (state.when ?? unknown) : 'Temporal does not answer for it; this may be old';
  const why = note === null || note === '' ? '' : `: ${plainText(note)}`;
  const times = next.map((at) => localText(new Date(at), timeZone)).join(', ');
  return [
    `${scheduleId}  ${when} (${timeZone})${paused ? colors.yellow('  paused') + why : ''}`,
    `  next: ${paused ? `none until \`belay schedule resume ${shellWord(scheduleId)} --reason TEXT\`` : times || 'none'}`,
    ...last.map((firing) => `  last: ${localText(new Date(firing.firedAt), timeZone)}  ${firingText(firing)}`),
    ...(skipped === 0 ? [] : [`  skipped because the last run was still in progress: ${skipped}`]),
    ...(missed === 0 ? [] : [`  missed while Temporal was down: ${missed}`]),
  ];
}

function firingText({ outcome, alreadyStarted, forgotten, workflowId, frozen, unreadable }: Firing): string {
  if (forgotten) return 'no longer stored in Temporal';
  if (unreadable !== undefined) return 'cannot be read';
  if (alreadyStarted) return `nothing to do: already started as ${workflowId}`;
  const state = colorize({ outcome, error: null }, outcome ?? 'in progress');
  // A freeze may begin after a part of it was deployed.
  const why = frozen === null ? '' : `  ${plainText(frozen, 400)}`;
  return `${state}${workflowId === null ? '' : `  ${workflowId}`}${why}`;
}

export interface OneScheduleOptions {
  json?: boolean;
}

export interface PauseOptions extends OneScheduleOptions {
  reason: string;
}

export function pauseOrResume(
  action: 'pause' | 'resume',
  scheduleId: string,
  { reason, ...options }: PauseOptions,
): Promise<void> {
  const text = (before: PausedBefore) => pausedText(action, before, reason);
  return act(scheduleId, options, `${action}d`, (belay) => belay.schedules[action](scheduleId, reason), text);
}

function pausedText(action: 'pause' | 'resume', { paused, note }: PausedBefore, reason: string): string {
  if (action === 'resume') return paused ? 'resumed' : 'was not paused';
  if (!paused) return 'paused';
  const why = note === null ? '' : ` because "${plainText(note)}"`;
  return `was paused already${why}; the reason is now "${plainText(reason)}"`;
}

/** Temporal does not say what a trigger starts. */
const TRIGGERED = 'triggered; `belay schedule list` shows its run';

export async function triggerSchedule(scheduleId: string, options: OneScheduleOptions): Promise<void> {
  await reportEndpoints(undefined);
  await act(
    scheduleId,
    options,
    'triggered',
    (belay) => belay.schedules.trigger(scheduleId),
    () => TRIGGERED,
  );
}

export function deleteSchedule(scheduleId: string, options: OneScheduleOptions): Promise<void> {
  return act(scheduleId, options, 'deleted', (belay) => belay.schedules.delete(scheduleId));
}

async function act<R>(
  scheduleId: string,
  { json: asJson }: OneScheduleOptions,
  done: string,
  does: (belay: Belay) => Promise<R>,
  text: (result: R) => string = () => done,
): Promise<void> {
  const result = await withBelay(does);
  printAnswer(asJson, { scheduleId, done }, `${scheduleId} ${text(result)}`);
}

/* Which of the next firings of a schedule would fall into a freeze of belay.yaml. Pure. */

interface FrozenFiring {
  /** When it is due, ISO 8601. */
  at: string;
  by: FrozenBy[];
}

const MAX_LOOKED_AT = 50;
const AHEAD_MS = 31 * DAY_MS;
const MINUTE_MS = 60_000;

/** The next times at which a schedule fires. @param times on the clocks of its zone @returns milliseconds since 1970 */
function* nextFirings(times: readonly Times[], timeZone: string, nowMs: number): Generator<number, void> {
  for (let atMs: number | undefined = nowMs; ;) {
    atMs = nextSpan({ times, lastsMs: MINUTE_MS, timeZone }, { begins: 'first', ends: 'first' }, atMs)?.beginMs;
    if (atMs === undefined) return;
    yield atMs;
  }
}

/** @param times when it fires, on the clocks of its zone @returns those of the next 31 days, 50 firings at most */
export function frozenFirings(
  { start, timeZone }: Pick<ScheduledInput, 'start' | 'timeZone'>,
  times: readonly Times[],
  policy: Pick<Policy, 'frozenBy'>,
  nowMs: number,
): FrozenFiring[] {
  const operations = scheduledOperations(start);
  const found: FrozenFiring[] = [];
  let looked = 0;
  for (const dueMs of nextFirings(times, timeZone, nowMs)) {
    looked += 1;
    if (looked > MAX_LOOKED_AT || dueMs > nowMs + AHEAD_MS) break;
    const by = operations.map((it) => policy.frozenBy(it, dueMs)).find(({ length }) => length > 0);
    if (by !== undefined) found.push({ at: new Date(dueMs).toISOString(), by });
  }
  return found;
}

/* Which approvals the firings of a schedule ask for. Pure. */

/** @returns the names of the approvals, those that the schedule itself names last */
export function askedByFirings(
  start: ScheduledInput['start'],
  { approvalsFor }: Pick<Policy, 'approvalsFor'>,
): string[] {
  const deployments = scheduledOperations(start).filter((it) => 'target' in it);
  if (deployments.length === 0) return [];
  const { input } = start;
  const named = [...[input.approval].flat(), ...('waves' in input ? input.waves.map(({ approval }) => approval) : [])];
  const needed = deployments.flatMap(approvalsFor).map(({ rule }) => rule.name);
  return [...new Set([...needed, ...named.filter((it) => it !== undefined)])];
}

/** What a firing of a schedule does. */
const scheduledOperations = ({ type, input }: ScheduledInput['start']): PlannedOperation[] =>
  type === 'watchDeployment' ? [] : partsOf(input).flatMap(operationsOf);
