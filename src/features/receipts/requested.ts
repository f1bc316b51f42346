/** What a receipt shows was requested of what people were asked about. Pure. */
import type { ApprovalPlan } from '../approvals/shapes.ts';
import { isRecord } from '../../contract/plain-object.ts';
import type { Receipt, ReceiptEntry } from './shapes.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { Target } from '../../contract/target.ts';
import { plannedParts } from '../approvals/planned-parts.ts';

export interface Requested {
  kind: 'backup' | 'deployment' | 'run';
  /** Of a deployment. */
  target: Target | null;
  atMs: number;
}

/** The requests that the service took. Of a rollout: the runs that it started for what the plan is about. */
export function requestedIn({ entries }: Receipt, plan: ApprovalPlan): Requested[] {
  const { input } = entries[0]?.facts ?? {};
  const isRollout = isRecord(input) && Array.isArray(input['waves']);
  const planned = isRollout ? plannedParts(input as unknown as RolloutInput, plan.wave) : [];
  const servers = new Set(planned.map(({ serverId }) => String(serverId)));
  return entries.flatMap((it) => (it.what === 'run' ? runIn(it, servers) : postIn(it)));
}

/** A server that an earlier attempt completed is not one that is asked about. */
function runIn({ facts: { serverId, startedAt } }: ReceiptEntry, servers: ReadonlySet<string>): Requested[] {
  const isStarted = typeof startedAt === 'string' && servers.has(String(serverId));
  return isStarted ? [{ kind: 'run', target: null, atMs: Date.parse(startedAt) }] : [];
}

function postIn({ what, at, facts: { target, result } }: ReceiptEntry): Requested[] {
  if (what !== 'post' || result !== 'accepted') return [];
  const atMs = Date.parse(at ?? '');
  return isRecord(target)
    ? [{ kind: 'deployment', target: target as unknown as Target, atMs }]
    : [{ kind: 'backup', target: null, atMs }];
}
