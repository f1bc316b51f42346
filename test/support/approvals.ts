/** Plans and rules of approvals, for tests. */
import {
  type ApprovalPlan,
  type ApprovalRule,
  type Approved,
  type PlannedPart,
  type Yes,
  planHash,
} from '../../src/features/approvals/shapes.ts';
import type { Execution } from '../../src/contract/operation.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { signedText } from '../../src/features/approvals/text.ts';
import { HOUR_MS } from '../../src/contract/duration.ts';
import { planRun } from '../../src/request/run-options.ts';
import { summaryOf } from '../../src/features/approvals/rules.ts';
import type { SshSigner } from './ssh-signer.ts';

export const ASKED_AT = '2026-11-25T12:00:00.000Z';
export const SERVICE = 'https://panel.example.com';

export const approvalRule = (more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  name: 'production',
  need: 1,
  from: null,
  proof: 'ssh',
  expiryMs: 24 * HOUR_MS,
  goodForMs: 12 * HOUR_MS,
  tell: null,
  ...more,
});

/** What the plan does. */
const PART: PlannedPart = { serverId: '12', targets: [siteTarget('34'), siteTarget('35')] };

/** As the request for its deployment carries it. */
export const approvedFor = (plan: ApprovalPlan, yeses: Yes[], { targets, serverId } = PART): Approved => ({
  plan,
  yeses,
  part: { serverId, targets, path: [] },
});

export const approvalPlan = (more: Partial<ApprovalPlan> = {}): ApprovalPlan => ({
  version: 1,
  namespace: 'default',
  workflowId: 'backup-then-deploy:12:release-7',
  executionId: '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a11',
  service: SERVICE,
  type: 'backupThenDeploy',
  serverId: '12',
  parts: summaryOf([PART]),
  wave: null,
  options: planRun({}),
  commit: null,
  override: null,
  noCheck: null,
  rules: [approvalRule()],
  askedAt: ASKED_AT,
  ...more,
});

type Decision = Partial<Pick<Parameters<typeof signedText>[2], 'decision' | 'why'>>;

/** The signature of one who decides about a plan. */
export function signPlan(signer: SshSigner, plan: ApprovalPlan, by: string, { decision, why = null }: Decision = {}) {
  return signer.sign(signedText(plan, planHash(plan), { decision: decision ?? 'approve', by, why }));
}

export const signedYes = (signer: SshSigner, plan: ApprovalPlan, by: string, at = ASKED_AT): Yes => ({
  by,
  why: null,
  at,
  proof: { kind: 'ssh', signature: signPlan(signer, plan, by) },
});

/** The workflow that asked. */
export const startedByPlan = ({ workflowId, executionId }: ApprovalPlan): Execution => ({
  workflowId,
  runId: executionId,
});
