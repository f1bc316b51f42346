/** The approvals of a policy: whom they are for, and who may give them. */
import { GITHUB_ISSUER, type GitHubGate } from './proof-github.ts';
import type { Configuration } from '../../config/load.ts';
import type { ApprovalConfig } from './config.ts';
import type { ApprovalRule } from './shapes.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import type { Scope } from '../freezes/sections-rules.ts';

export interface PolicyApproval {
  rule: ApprovalRule;
  scope: Scope;
  /** The file of allowed signers; null if the proof has none. */
  signersFile: string | null;
  /** The job of GitHub that may approve; null if the proof is another one. */
  github: GitHubGate | null;
}

const DEFAULT_EXPIRY_MS = 24 * HOUR_MS;
const DEFAULT_GOOD_FOR_MS = 12 * HOUR_MS;

export const policyApprovals = ({ approvals = {} }: Configuration): PolicyApproval[] =>
  Object.entries(approvals).map(([name, config]) => ({
    rule: ruleOf(name, config),
    scope: config.for ?? {},
    signersFile: config.signers?.file ?? null,
    github: gateOf(config),
  }));

function ruleOf(name: string, { proof, ...config }: ApprovalConfig): ApprovalRule {
  const { need = 1, from = null, expiry = DEFAULT_EXPIRY_MS, goodFor = DEFAULT_GOOD_FOR_MS, tell = null } = config;
  return {
    name,
    need,
    from,
    proof: typeof proof === 'string' ? proof : 'github',
    expiryMs: expiry,
    goodForMs: goodFor,
    tell,
  };
}

function gateOf({ proof }: ApprovalConfig): GitHubGate | null {
  if (typeof proof === 'string') return null;
  const { repository, environment, issuer = GITHUB_ISSUER } = proof.github;
  return { repositoryId: String(repository), environment, issuer };
}
