/** The approvals of a policy: whom they are for, and who may give them. */
import type { Configuration } from '../config/load.ts';
import type { ApprovalConfig } from '../config/file/approval-schema.ts';
import type { ApprovalRule } from '../contract/approval.ts';
import { HOUR_MS } from '../contract/wording/duration.ts';
import type { Scope } from './rules.ts';

export interface PolicyApproval {
  rule: ApprovalRule;
  scope: Scope;
  /** The file of allowed signers; null if the proof has none. */
  signersFile: string | null;
}

const DEFAULT_EXPIRY_MS = 24 * HOUR_MS;
const DEFAULT_GOOD_FOR_MS = 12 * HOUR_MS;

export const policyApprovals = ({ approvals = {} }: Configuration): PolicyApproval[] =>
  Object.entries(approvals).map(([name, config]) => ({
    rule: ruleOf(name, config),
    scope: config.for ?? {},
    signersFile: config.signers?.file ?? null,
  }));

function ruleOf(name: string, { proof, ...config }: ApprovalConfig): ApprovalRule {
  const { need = 1, from = null, expiry = DEFAULT_EXPIRY_MS, goodFor = DEFAULT_GOOD_FOR_MS, tell = null } = config;
  return {
    name,
    need,
    from,
    proof,
    expiryMs: expiry,
    goodForMs: goodFor,
    tell,
  };
}
