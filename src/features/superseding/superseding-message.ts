/** What messages between runs say of superseding. Anyone can send one from the UI, so each is checked. Pure. */
import { RUN_TYPES } from '../../contract/names.ts';
import { isRecord } from '../../contract/plain-object.ts';
import type { NewerRun, RunWork } from './shapes.ts';
import { checkTarget } from '../../request/check-target.ts';
import { validateId } from '../../request/validate-id.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A queue of a thousand waiters stays below Temporal's limit of 2 MB. */
const MAX_WORK_LENGTH = 1_000;

/** What fits into a message; else a run neither replaces others in a queue nor is replaced there. */
export const shortWork = (work: RunWork): RunWork | undefined =>
  JSON.stringify(work).length > MAX_WORK_LENGTH ? undefined : work;

/** Whether a value names an execution, as a signal to it needs. */
export function namesRun(value: unknown): value is { workflowId: string; runId: string } {
  const { workflowId, runId } = isRecord(value) ? value : {};
  return validateId(workflowId) === null && typeof runId === 'string' && UUID.test(runId);
}

export const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

export function workIn(value: unknown): RunWork | null {
  if (!isRecord(value)) return null;
  const { type, service, serverId, targets, startedAt, supersedes, hasBegun } = value;
  const known = RUN_TYPES.find((it) => it === type);
  if (known === undefined || !Array.isArray(targets) || !isInstant(startedAt)) return null;
  const checked = targets.map(checkTarget).filter((it) => typeof it !== 'string');
  if (checked.length < targets.length) return null;
  return {
    type: known,
    service: typeof service === 'string' ? service : null,
    serverId: typeof serverId === 'string' ? serverId : null,
    targets: checked,
    startedAt,
    supersedes: supersedes === true,
    hasBegun: hasBegun === true,
  };
}

export function newerRunIn(message: unknown): NewerRun | null {
  const work = workIn(isRecord(message) ? message.work : null);
  if (work === null || !namesRun(message)) return null;
  const { workflowId, runId } = message;
  return { workflowId, runId, work };
}
