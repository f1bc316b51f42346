/** Checks that the answers in a receipt belong to its run or rollout, and allowed what it requested. */
import { BelayError } from '../../contract/errors.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { isRecord } from '../../contract/plain-object.ts';
import type { BackupResult, DeploymentResult, RunInput } from '../../contract/run.ts';
import { plainText } from '../../contract/safe-text.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import type { CheckAnswers, CheckedAnswer, CheckedAnswers, Receipt, ReceiptEntry } from '../receipts/shapes.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import { parseAllowedSigners, proveBySsh, type Signer } from './proof-signers.ts';
import { ApprovalError, fingerprint, verifySshSignature } from './proof-ssh.ts';
import { differentPeople, goodUntilMs, plannedPartOf, plannedParts } from './rules.ts';
import {
  type ApprovalPlan,
  type ApprovalRule,
  type Approved,
  type Decided,
  type Yes,
  isPartOf,
  planHash,
  rootOf,
} from './shapes.ts';
import { NOT_PROVEN, signedText } from './text.ts';

/**
 * @param file the allowed signers of this machine; null to verify signatures only with the keys that they contain
 * @throws BelayError of type `Usage` for a file with a mistake
 */
export function answersBy(file: { name: string; text: string } | null): CheckAnswers {
  const signers = file === null ? null : signersIn(file);
  return (receipt) => checkAnswers(receipt, signers);
}

function signersIn({ name, text }: { name: string; text: string }): Signer[] {
  try {
    return parseAllowedSigners(text);
  } catch (error) {
    if (error instanceof ApprovalError) throw new BelayError('Usage', `--signers ${name}: ${error.message}`);
    throw error;
  }
}

function checkAnswers(receipt: Receipt, signers: readonly Signer[] | null): CheckedAnswers {
  const [approvals, rejections, problems]: [CheckedAnswer[], CheckedAnswer[], string[]] = [[], [], []];
  for (const { what, facts } of receipt.entries) {
    try {
      if (what === 'approval') approvals.push(...verifyApproval(facts as unknown as ApprovalFacts, receipt, signers));
      if (what === 'rejection') rejections.push(verifyRejection(facts as unknown as RejectionFacts, receipt, signers));
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? plainText(error.message) : 'it cannot be read'}`);
    }
  }
  return { approvals, rejections, problems: [...problems, ...missingAnswers(receipt)] };
}

/** An entry `held` names the people who decided, so the receipt also needs an entry with their answer. */
function missingAnswers({ entries }: Receipt): string[] {
  return entries.flatMap(({ what, facts: { for: kind, name, from, end, by } }) => {
    if (what !== 'held' || kind !== 'approval' || (end !== 'approved' && end !== 'rejected')) return [];
    const answers = entries.filter((it) => it.what === (end === 'approved' ? 'approval' : 'rejection'));
    const isThere = answers.some(({ facts }) => {
      const { plan, yeses, by: rejectedBy } = facts;
      const rules = isRecord(plan) && plan['askedAt'] === from ? recordsIn(plan['rules']) : [];
      const names = end === 'approved' ? recordsIn(yeses).map((yes) => String(yes['by'])) : [String(rejectedBy)];
      return rules.some((rule) => rule['name'] === name) && namesAll(String(by), names);
    });
    return isThere ? [] : [`held: it was ${end} by ${plainText(String(by))}, but the receipt has no such answer`];
  });
}

/** Anyone may have written the document. */
const recordsIn = (list: unknown): Record<string, unknown>[] => (Array.isArray(list) ? list.filter(isRecord) : []);

const BETWEEN_NAMES = ', ';

/**
 * Whether a list consists of some of these names in their order. A name may contain a comma, and may begin another one,
 * so every way to divide the list counts.
 */
function namesAll(list: string, names: readonly string[]): boolean {
  const text = `${list}${BETWEEN_NAMES}`;
  const ends = new Set([0]);
  for (const name of names) {
    const part = `${name}${BETWEEN_NAMES}`;
    for (const at of [...ends]) if (text.startsWith(part, at)) ends.add(at + part.length);
  }
  return ends.has(text.length);
}

/** The facts of an entry `approval`, with the hash of the approved plan. */
interface ApprovalFacts extends Approved {
  hash: string;
}

interface RejectionFacts extends Yes {
  plan: ApprovalPlan;
  hash: string;
}

/** @throws Error if the approval does not allow what was requested */
function verifyApproval(
  { hash, ...approved }: ApprovalFacts,
  receipt: Receipt,
  signers: readonly Signer[] | null,
): CheckedAnswer[] {
  const { plan, yeses } = approved;
  requireOwn(approved, hash, receipt);
  const proofs = yeses.map((yes) => proofOf({ plan, hash, decision: 'approve' }, yes, signers));
  const requested = requestedIn(receipt, plan);
  if (requested.length > 0) requireEnough(approved, proofs);
  if (!requested.every(({ target }) => target === null || covers(approved, target, receipt)))
    throw new ApprovalError('it does not contain everything that was deployed');
  const early = requested.find((it) => !isGoodAt(approved, proofs, it));
  if (early !== undefined)
    throw new ApprovalError(`a ${early.kind} was requested before it was given, or when it was over`);
  return yeses.map(({ by }, index) => ({ by, proof: proofs[index]!.text }));
}

/** @throws Error if something was requested despite the rejection */
function verifyRejection(
  { plan, hash, ...rejection }: RejectionFacts,
  receipt: Receipt,
  signers: readonly Signer[] | null,
): CheckedAnswer {
  requireOwn({ plan, yeses: [] }, hash, receipt);
  const proof = proofOf({ plan, hash, decision: 'reject' }, rejection, signers);
  const [requested] = requestedIn(receipt, plan);
  if (requested !== undefined) throw new ApprovalError(`a ${requested.kind} was requested all the same`);
  return { by: rejection.by, proof: proof.text };
}

function requireOwn(approved: Approved, hash: string, receipt: Receipt): void {
  if (planHash(approved.plan) !== hash) throw new ApprovalError('its plan was changed');
  if (!belongsTo(approved, receipt)) throw new ApprovalError('it is one of another run');
}

function requireEnough({ plan: { rules }, yeses }: Approved, proofs: readonly CheckedProof[]): void {
  for (const rule of rules) {
    const counted = countedFor(rule, yeses, proofs);
    if (counted.length < rule.need)
      throw new ApprovalError(`it has ${counted.length} of ${rule.need} approvals (${rule.name})`);
  }
}

/** Counts as workers do: a rule that needs no proof also takes an answer that has one, but counts it as not proven. */
function countedFor(rule: ApprovalRule, yeses: readonly Yes[], proofs: readonly CheckedProof[]) {
  const keyOf = (index: number) => (rule.proof === 'none' ? null : proofs[index]!.key) ?? NOT_PROVEN;
  return differentPeople(
    yeses.flatMap((yes, index) => (mayCount(yes, rule) ? [{ by: yes.by, proof: keyOf(index) }] : [])),
  );
}

/** A run of a rollout may use the approval of its rollout. */
function belongsTo({ plan, part }: Approved, { workflowId, runId, entries }: Receipt): boolean {
  const { namespace, type, input, executionId = runId } = entries[0]?.facts ?? {};
  if (plan.namespace !== namespace) return false;
  const { root } = plan.parts;
  if (plan.workflowId === workflowId && plan.executionId === executionId) {
    const isRollout = type === ROLLOUT_TYPE;
    const parts = isRollout ? plannedParts(input as RolloutInput, plan.wave) : [plannedPartOf(input as RunInput)];
    // No signature covers the part itself.
    return root === rootOf(parts) && (part === undefined || isPartOf(root, part, part.path));
  }
  if (plan.type !== ROLLOUT_TYPE || part === undefined) return false;
  if (part.serverId !== (input as Partial<RunInput> | null)?.serverId) return false;
  return isPartOf(root, part, part.path);
}

function covers({ part }: Approved, target: Target, { entries }: Receipt): boolean {
  const { targets } = part ?? plannedPartOf(entries[0]?.facts['input'] as RunInput);
  return targets.some((it) => isSameTarget(it, target));
}

/** An approval that has expired only keeps deployments from beginning. */
function isGoodAt({ plan, yeses }: Approved, proofs: readonly CheckedProof[], { kind, atMs }: Requested): boolean {
  const lastMs = Math.max(...yeses.map(({ at }) => Date.parse(at)));
  const counted = yeses.map((yes) => {
    const rules = plan.rules.filter((rule) => countedFor(rule, yeses, proofs).some(({ by }) => by === yes.by));
    return { ...yes, rules: rules.map(({ name }) => name) };
  });
  return lastMs <= atMs && (kind !== 'deployment' || atMs < goodUntilMs([{ plan, yeses: counted }]));
}

/** Whether an answer is of a kind that the rule takes, by someone whom it takes. A rule without a proof takes every kind. */
const mayCount = ({ by, proof }: Yes, rule: ApprovalRule): boolean =>
  (rule.proof === 'none' || rule.proof === proof.kind) && (rule.from === null || rule.from.includes(by));

interface CheckedProof {
  /** The fingerprint of the key. Null without a key. */
  key: string | null;
  text: string;
}

/** @throws ApprovalError if the proof proves nothing. With `signers`, only a signature of one of them does */
function proofOf(
  { plan, hash, decision }: { plan: ApprovalPlan; hash: string; decision: Decided },
  { by, why, at, proof }: Yes,
  signers: readonly Signer[] | null,
): CheckedProof {
  if (proof.kind !== 'ssh') {
    const text =
      proof.kind === 'none' ? 'audit only, not proven' : 'a job of GitHub; its token was verified when it was given';
    if (signers !== null) throw new ApprovalError(`no signer proves the answer of ${by}: ${text}`);
    return { key: null, text };
  }
  const { signature } = proof;
  const text = signedText(plan, hash, { decision, by, why });
  if (signers === null) {
    const key = fingerprint(verifySshSignature(signature, text));
    return { key, text: `${key}, a key that the receipt names` };
  }
  const key = proveBySsh(signers, { signature, text, principal: by }, Date.parse(at));
  return { key, text: key };
}

/* Finds what a receipt shows as requested, of what people were asked about. Pure. */

interface Requested {
  kind: 'backup' | 'deployment' | 'run';
  target: Target | null;
  atMs: number;
}

/**
 * Returns the requests that the service accepted, or that may have had an effect. For a rollout, these are the runs that it
 * started for the plan.
 */
function requestedIn({ entries }: Receipt, plan: ApprovalPlan): Requested[] {
  const { input } = entries[0]?.facts ?? {};
  const isRollout = isRecord(input) && Array.isArray(input['waves']);
  const planned = isRollout ? plannedParts(input as unknown as RolloutInput, plan.wave) : [];
  const servers = new Set(planned.map(({ serverId }) => String(serverId)));
  return entries.flatMap((it, index) => {
    if (it.what === 'run') return runIn(it, servers);
    if (it.what === 'post') return it.facts['result'] === 'accepted' ? [requestAt(it)] : [];
    return inDoubt(it, entries.slice(0, index));
  });
}

/** People are not asked about a server that an earlier attempt completed. */
function runIn({ facts: { serverId, startedAt } }: ReceiptEntry, servers: ReadonlySet<string>): Requested[] {
  const isStarted = typeof startedAt === 'string' && servers.has(String(serverId));
  return isStarted ? [{ kind: 'run', target: null, atMs: Date.parse(startedAt) }] : [];
}

/**
 * If a request of an operation was in doubt, returns the last request that may have started it. If the requests are
 * missing, the operation counts as requested.
 */
function inDoubt({ what, facts, at }: ReceiptEntry, before: readonly ReceiptEntry[]): Requested[] {
  if (what !== 'deployment' && what !== 'backup') return [];
  const { trigger, outcome, acceptedAt, startedAt } = facts as Partial<DeploymentResult | BackupResult>;
  const { target, serverId, missing } = facts;
  if (missing !== undefined && outcome !== 'not_started')
    return [requestAt({ at: acceptedAt ?? startedAt ?? at, facts })];
  if (trigger?.ambiguous !== true) return [];
  const isOwn = ({ facts: of }: ReceiptEntry) =>
    isRecord(target) && isRecord(of['target'])
      ? isSameTarget(of['target'] as unknown as Target, target as unknown as Target)
      : of['serverId'] === serverId && of['target'] === target;
  const last = before.findLast((it) => it.what === 'post' && it.facts['effect'] !== 'none' && isOwn(it));
  return [requestAt({ at: last?.at ?? at, facts })];
}

function requestAt({ at, facts: { target } }: Pick<ReceiptEntry, 'at' | 'facts'>): Requested {
  const atMs = Date.parse(at ?? '');
  return isRecord(target)
    ? { kind: 'deployment', target: target as unknown as Target, atMs }
    : { kind: 'backup', target: null, atMs };
}
