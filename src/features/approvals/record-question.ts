/** Keeps in the result what was asked, and who decided. */
import type { Held } from '../freezes/shapes.ts';
import { notProvenText } from './text.ts';
import type { OpenQuestion } from './rules.ts';
import type { ApprovalEnd } from './workflow.ts';

export function openHeld(result: { held: Held[] }, { plan }: OpenQuestion): Held[] {
  const held = plan.rules.map(({ name, need }): Held => ({
    for: 'approval',
    name,
    from: plan.askedAt,
    to: null,
    end: null,
    by: null,
    why: `${need} ${need === 1 ? 'approval is' : 'approvals are'} needed`,
  }));
  result.held.push(...held);
  return held;
}

const ENDS: Record<ApprovalEnd['kind'], Held['end']> = {
  approved: 'approved',
  rejected: 'rejected',
  expired: 'gave_up',
  late: 'gave_up',
  over: 'cancelled',
};

export function closeHeld(
  held: readonly Held[],
  { asked, yeses, proven, rejected }: OpenQuestion,
  kind: ApprovalEnd['kind'],
): void {
  for (const it of held) {
    Object.assign(it, { to: new Date().toISOString(), end: ENDS[kind] });
    if (rejected !== null) {
      Object.assign(it, { by: rejected.by, why: rejected.why, proof: notProvenText(rejected.proven) });
      continue;
    }
    const by = asked.find(({ name }) => name === it.name)?.by ?? [];
    if (by.length === 0) continue;
    const reasons = yeses.flatMap((yes) => (by.includes(yes.by) && yes.why !== null ? [yes.why] : []));
    const proofs = [...new Set(by.map((name) => notProvenText(proven.get(name) ?? '')))];
    Object.assign(it, { by: by.join(', '), proof: proofs.join(', ') });
    it.why = reasons.length > 0 ? reasons.join('; ') : 'no reason given';
  }
}
