/** Turns `approvals:` of a worker's belay.yaml into rules, and judges what an answer proves by the worker's signers. */
import { readFile } from 'node:fs/promises';
import { parseAllowedSigners, type Signer, proveBySsh, signersForApprovals } from './proof-signers.ts';
import { ApprovalError, fingerprint } from './proof-ssh.ts';
import { audienceOf, createTokenVerifier, type GitHubGate, type VerifyToken, GITHUB_ISSUER } from './proof-github.ts';
import { type ApprovalCheck, type ApprovalRule, planHash } from './shapes.ts';
import { NOT_PROVEN, signedText } from './text.ts';
import { plainText, messageOf } from '../../contract/safe-text.ts';
import type { Configuration } from '../../config/load.ts';
import type { ApprovalConfig } from './config.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import type { Scope } from '../../config/file/scope.ts';
import type { Places } from '../../config/policy.ts';
import type { PlannedOperation } from '../../contract/target.ts';
import { ConfigError } from '../../config/environment/variables.ts';

export type ReadText = (path: string) => Promise<string>;

export interface ProofDeps {
  readText: ReadText;
  verifyToken: VerifyToken;
}

export const createProofDeps = (): ProofDeps => ({
  readText: (path) => readFile(path, 'utf8'),
  verifyToken: createTokenVerifier(),
});

/** @returns the key or job that proves an answer at this time. @throws ApprovalError if nothing does */
export type Proven = (atMs: number) => string;

/**
 * Reads the signers again, so that a removed key no longer counts.
 *
 * @returns a function that judges an answer. Both throw an Error if the signers or GitHub's keys cannot be read. What it
 * returns is asked for the proof when the answer counts, and throws an ApprovalError if it proves nothing then.
 */
export async function proverOf(
  approval: PolicyApproval,
  { readText, verifyToken }: ProofDeps,
): Promise<(given: ApprovalCheck) => Promise<Proven>> {
  const { rule, github } = approval;
  const signers = await signersOf(approval, readText);
  return async ({ plan, decision, by, why, proof, atMs: givenMs }) => {
    if (plainText(by) !== by || (why !== null && plainText(why) !== why))
      return refusing('the name and the reason have to be one line each, of at most 200 characters');
    if (rule.from !== null && !rule.from.includes(by))
      return refusing(`${by} is none of those who may decide about ${rule.name}: ${rule.from.join(', ')}`);
    if (github !== null) {
      if (proof.kind !== 'github') return refusing('it needs a job of GitHub: `belay approve --github`');
      const use = { gate: github, audience: audienceOf(planHash(plan), decision), actor: by };
      // The token has expired by the time the request is sent, so it is judged as of the time of the answer.
      return verifyToken(proof.token, use, givenMs).then((job) => () => job, refusedLater);
    }
    if (rule.proof === 'none') return () => NOT_PROVEN;
    if (proof.kind !== 'ssh') return refusing(`${rule.name} needs a signature of SSH`);
    const { signature } = proof;
    const signed = { signature, text: signedText(plan, planHash(plan), { decision, by, why }), principal: by };
    return (atMs) => proveBySsh(signers, signed, atMs);
  };
}

const refusing = (message: string) => refusedLater(new ApprovalError(message));

/** Keeps an ApprovalError until the proof is asked for, and throws any other error now. */
function refusedLater(error: unknown): Proven {
  if (!(error instanceof ApprovalError)) throw error;
  return () => {
    throw error;
  };
}

/** @throws Error whose message names file and line */
async function signersOf({ rule, signersFile }: PolicyApproval, readText: ReadText): Promise<Signer[]> {
  if (signersFile === null) return [];
  const text = await readText(signersFile).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${where(rule.name, signersFile)} cannot be read (${error.code ?? error.message})`);
  });
  try {
    return parseAllowedSigners(text);
  } catch (error) {
    throw new Error(`${where(rule.name, signersFile)}: ${messageOf(error)}`);
  }
}

const where = (name: string, file: string): string => `approvals.${name}.signers: ${file}`;

/** @returns why a question could never be answered, or null. @throws Error if the signers cannot be read */
export async function whyUnanswerable(approval: PolicyApproval, readText: ReadText): Promise<string | null> {
  const { rule } = approval;
  if (rule.proof !== 'ssh') return null;
  const signers = signersForApprovals(await signersOf(approval, readText));
  const unknown = rule.from?.find((it) => !signers.some(({ principals }) => principals.includes(it)));
  if (unknown !== undefined) return `approvals.${rule.name}.from: ${unknown} is not in the file of signers: add a key`;
  const deciders = signers.filter(
    ({ principals }) => rule.from === null || principals.some((it) => rule.from?.includes(it)),
  );
  const people = rule.from?.length ?? new Set(deciders.flatMap(({ principals }) => principals)).size;
  const keys = new Set(deciders.map(({ key }) => fingerprint(key))).size;
  if (Math.min(people, keys) >= rule.need) return null;
  const found =
    keys < people
      ? `those who may decide share ${keys === 1 ? 'one key' : `${keys} keys`}`
      : `only ${people} may decide`;
  return `approvals.${rule.name}.need: it asks for ${rule.need}, and in the file of signers ${found}: lower it, or add keys`;
}

export interface PolicyApproval {
  rule: ApprovalRule;
  scope: Scope;
  /** Null if the proof needs no file of allowed signers. */
  signersFile: string | null;
  /** The job of GitHub that may approve. Null for other proofs. */
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

export function approvalsPolicy(configuration: Configuration, { fit }: Places) {
  const approvals = policyApprovals(configuration);
  return {
    /** Returns the approvals that a deployment needs. A backup alone needs none. */
    approvalsFor: (operation: PlannedOperation) =>
      'target' in operation ? approvals.filter(({ scope }) => fit(scope, operation)) : [],
    /** Null if belay.yaml has none with this name. */
    approval: (name: string) => approvals.find(({ rule }) => rule.name === name) ?? null,
  };
}

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

/* A worker starts only if enough people can give each of its approvals. */

/** @throws ConfigError for a file of signers that cannot be used, or that names too few signers */
export async function requireSigners(configuration: Configuration): Promise<void> {
  const { readText } = createProofDeps();
  for (const approval of policyApprovals(configuration)) {
    const problem = await whyUnanswerable(approval, readText).catch((error: unknown) => messageOf(error));
    if (problem !== null) throw new ConfigError(problem);
  }
}
