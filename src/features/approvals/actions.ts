/** Implements `belay approve`, `reject` and `approvals`, and the approvals of a dry run. */
import type { ApprovalAnswer, ApprovalQuestion, Decided, AskedApproval, AskingRun } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import {
  signedText,
  type SignedDecision,
  approvalSentence,
  factsOfPlan,
  partLines,
  stillNeededText,
  APPROVAL_NAMESPACE,
  PLAN_DIGITS,
} from './text.ts';
import { shellWord, plainText, messageOf } from '../../contract/safe-text.ts';
import { printAnswer } from '../../process/json-document.ts';
import { printNote } from '../../process/print.ts';
import { signature, tokenRequest } from '../../config/environment/environment.ts';
import type { Belay } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline/promises';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { audienceOf } from './proof-github.ts';
import type { RolloutWave } from '../rollouts/shapes.ts';
import type { PolicyApproval } from './worker-proofs.ts';
import { askedWhen } from './rules.ts';
import { operationsOf } from '../../contract/target.ts';
import type { DryRunPart, Planned } from '../../cli/dry-run.ts';

export interface DecideOptions {
  plan?: string;
  by?: string;
  key?: string;
  github?: true;
  reason?: string;
  json?: boolean;
}

export function decideApproval(decision: Decided, workflowId: string, options: DecideOptions): Promise<void> {
  return answer(decision, workflowId, options).catch((error: unknown) => {
    if (!(error instanceof BelayError) || error.type !== 'NoWorker') throw error;
    const again = commandOf(decision, workflowId, options);
    throw new BelayError('NoWorker', `${error.message}; then repeat: \`${again}\``);
  });
}

function commandOf(decision: Decided, workflowId: string, { github, plan, by, key, reason }: DecideOptions): string {
  const options = Object.entries({ plan, by, key, reason });
  const given = options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, shellWord(value)]));
  return ['belay', decision, shellWord(workflowId), ...given, ...(github === true ? ['--github'] : [])].join(' ');
}

async function answer(decision: Decided, workflowId: string, options: DecideOptions): Promise<void> {
  const { reason: why = null, by: named = signature(), json } = options;
  await withBelay(async (belay) => {
    const question = await belay.approvals.question(workflowId);
    if (question === null) throw new BelayError('Usage', `${workflowId} asks for no approval now`);
    printNote(questionLines(question));
    await confirm(question, decision, options.plan);
    const { by, proof } = await prove(question, { decision, by: named, why }, options);
    await belay.approvals[decision](workflowId, { plan: question.hash, by, why, proof });
    const left = decision === 'approve' ? await ifStillOpen(belay, question) : null;
    const taken = { workflowId, plan: question.hash, decision, by, proof: proof.kind, asked: left?.asked ?? null };
    printAnswer(json, taken, takenText(decision, { workflowId, by, left }));
  });
}

async function prove(
  { plan, hash, asked }: ApprovalQuestion,
  decided: SignedDecision,
  { key, github }: Pick<DecideOptions, 'key' | 'github'>,
): Promise<Pick<ApprovalAnswer, 'by' | 'proof'>> {
  if (github === true) {
    const { token, actor } = await jobToken(hash, decided.decision);
    return { by: actor, proof: { kind: 'github', token } };
  }
  if (asked.every(({ proof }) => proof !== 'ssh')) return { by: decided.by, proof: { kind: 'none' } };
  const signed = await signBySsh(signedText(plan, hash, decided), key);
  return { by: decided.by, proof: { kind: 'ssh', signature: signed } };
}

/** @returns what the question asks now, or null if enough people have approved, or if no one answers */
async function ifStillOpen(belay: Belay, { plan: { workflowId }, hash }: ApprovalQuestion) {
  const next = await belay.approvals.question(workflowId).catch(() => null);
  return next?.hash === hash ? next : null;
}

export async function printApprovals({ json }: { json?: boolean }): Promise<void> {
  const asking = await withBelay((belay) => belay.approvals.list());
  const none = 'no run or rollout asks for an approval';
  const lines = asking.length === 0 ? none : asking.flatMap(approvalLines);
  printAnswer(json, { approvals: asking.map(approvalDocument) }, lines);
}

export function questionLines({ plan, hash, parts, asked, until }: ApprovalQuestion): string[] {
  return [...factsOfPlan(plan, hash), ...partLines(parts), ...asked.map(askedLine), `until: ${until}`];
}

const PROOFS: Record<AskedApproval['proof'], string> = {
  ssh: 'proven by a signature of SSH',
  github: 'proven by a job of GitHub: `belay approve --github`',
  none: 'audit only, nothing proves who decides',
};

function askedLine({ name, need, proof, from, by }: AskedApproval): string {
  const anyone = proof === 'none' ? 'anyone' : 'anyone whose proof it accepts';
  const who = from === null ? anyone : from.map((it) => plainText(it)).join(', ');
  const how = PROOFS[proof];
  const so = by.length === 0 ? 'none yet' : by.map((it) => plainText(it)).join(', ');
  return `${plainText(name)}: needs ${need} from ${who} (${how}); approved by: ${so}`;
}

function approvalLines({ workflowId, question, why }: AskingRun): string[] {
  if (question === null)
    return [plainText(workflowId), `  asks for an approval that is not known: ${plainText(why ?? '', 400)}`];
  const { hash, asked, until } = question;
  return [plainText(workflowId), `  ${approvalSentence({ workflowId, plan: hash, asked, until })}`];
}

const approvalDocument = ({ workflowId, runId, startedAt, question, why }: AskingRun): object => ({
  workflowId,
  runId: question?.plan.executionId ?? runId,
  service: question?.plan.service ?? null,
  plan: question?.hash ?? null,
  does: question === null ? null : factsOfPlan(question.plan, question.hash),
  parts: question?.parts ?? null,
  asked: question?.asked ?? null,
  since: question?.plan.askedAt ?? startedAt,
  until: question?.until ?? null,
  why,
});

function takenText(
  decision: Decided,
  { workflowId, by, left }: { workflowId: string; by: string; left: ApprovalQuestion | null },
): string {
  const shown = plainText(workflowId);
  if (decision === 'reject') return `${shown} was rejected by ${plainText(by)}`;
  const next = left === null ? 'it continues' : `it ${stillNeededText(left.asked)}`;
  return `${shown} was approved by ${plainText(by)}; ${next}: \`belay status ${shellWord(workflowId)}\``;
}

/* Signs a decision with `ssh-keygen`, which also asks an agent, a security key or a person for the passphrase. */

/** `ssh` tries each of these keys. A signature needs one, so this takes the first that exists. */
const DEFAULT_KEYS = ['id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'id_rsa'];

/**
 * @param key a private key, or a public one whose private one an agent holds; undefined for the user's default
 * @returns the signature in the format of OpenSSH
 */
async function signBySsh(signed: string, key: string | undefined): Promise<string> {
  const file = key ?? defaultKey();
  const keygen = spawn('ssh-keygen', ['-Y', 'sign', '-n', APPROVAL_NAMESPACE, '-f', file], { stdio: 'pipe' });
  const ended = new Promise<number | null>((resolve, reject) => keygen.once('error', reject).once('close', resolve));
  // It may have ended before it read anything: its exit code says so.
  keygen.stdin.on('error', () => undefined).end(signed);
  const output = Promise.all([text(keygen.stdout), text(keygen.stderr)]);
  const code = await ended.catch((error: NodeJS.ErrnoException) => {
    const remedy = error.code === 'ENOENT' ? 'install OpenSSH' : (error.code ?? error.message);
    throw new BelayError('Usage', `ssh-keygen, which signs approvals, cannot be run: ${remedy}`);
  });
  const [signature, complaint] = await output;
  if (code === 0 && signature !== '') return signature;
  throw new BelayError(
    'Usage',
    `ssh-keygen did not sign with ${file}: ${plainText(complaint) || `it exited with ${code}`}`,
  );
}

function defaultKey(): string {
  for (const name of DEFAULT_KEYS) {
    const file = join(homedir(), '.ssh', name);
    if (existsSync(file)) return file;
  }
  throw new BelayError('Usage', `there is no key to sign with in ${join(homedir(), '.ssh')}: name one with --key`);
}

/* Asks GitHub Actions for a token that says which job this is, for one plan only. */

const ANSWER_WITHIN_MS = 10_000;

const answered = z.object({ value: z.string() });

/** @param hash of the plan @returns the token, and who started the job, as the token says */
async function jobToken(hash: string, decision: Decided): Promise<{ token: string; actor: string }> {
  const { address, secret } = tokenRequest();
  if (address === null || secret === null)
    throw new BelayError('Usage', '--github is for a job of GitHub Actions with `permissions: { id-token: write }`');
  const url = new URL(address);
  url.searchParams.set('audience', audienceOf(hash, decision));
  const token = await request(url, secret).catch((error: unknown) => {
    const why = messageOf(error);
    throw new BelayError('Usage', `GitHub gave no token for this job (${why}): run the job again`);
  });
  return { token, actor: String(decodeJwt(token)['actor']) };
}

async function request(url: URL, secret: string): Promise<string> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${secret}` },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return answered.parse(await response.json()).value;
}

/* Makes sure that a person decides about the plan that they have seen. */

/** @param seen the plan that the person has read, by its hash. Default: a terminal asks. @throws BelayError `Usage` */
export async function confirm(
  { plan: { workflowId }, hash }: ApprovalQuestion,
  decision: Decided,
  seen: string | undefined,
): Promise<void> {
  if (seen !== undefined) {
    if (hash.startsWith(seen)) return;
    const remedy = 'read what it asks now, and decide again';
    throw new BelayError(
      'Usage',
      `${workflowId} asks about plan ${hash.slice(0, PLAN_DIGITS)}, not ${seen}: ${remedy}`,
    );
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    const shown = hash.slice(0, PLAN_DIGITS);
    throw new BelayError('Usage', `without a terminal, name the plan that you have read: --plan ${shown}`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Type "yes" to ${decision} it: `);
    if (answer.trim().toLowerCase() === 'yes') return;
  } finally {
    terminal.close();
  }
  throw new BelayError('Usage', `you did not ${decision} it: nothing has changed`);
}

/* Shows which approvals would be asked for. Workers read their own belay.yaml; this command reads that of its machine. */

interface AskedFor {
  name: string;
  /** The wave that needs it. Null if it is asked before the whole rollout or run. */
  wave: string | null;
  /** Null if the belay.yaml of this machine has no approval of this name. */
  rule: PolicyApproval['rule'] | null;
}

type Wave = Pick<RolloutWave, 'name' | 'approval'>;

export const approvalsPart: DryRunPart = {
  name: 'approvals',
  look(planned, { policy: { approval, approvalsFor } }) {
    const { rollout, options, runs } = planned;
    const waves = rollout?.waves ?? [{ name: '' }];
    const needs = waves.map(({ name: wave, approval: named }: Wave) => ({
      wave,
      named,
      needed: runs
        .filter((run) => rollout === null || run.wave === wave)
        .flatMap((run) => operationsOf(run).flatMap(approvalsFor))
        .map(({ rule }) => rule.name),
    }));
    const { before, ofWaves } = askedWhen(rollout === null ? options.approval : rollout.approval, needs);
    const asked = [...before.map((name) => ({ name, wave: null })), ...ofWaves].map((it): AskedFor => ({
      ...it,
      rule: approval(it.name)?.rule ?? null,
    }));
    return Promise.resolve({ value: asked.map(documentOf), lines: linesOf(planned, asked) });
  },
};

const documentOf = ({ name, wave, rule }: AskedFor) => ({
  name,
  wave,
  isKnown: rule !== null,
  need: rule?.need ?? null,
  from: rule?.from ?? null,
  proof: rule?.proof ?? null,
});

function linesOf({ rollout }: Planned, asked: readonly AskedFor[]): string[] {
  if (asked.length === 0) return ['approvals: no one is asked'];
  const start = rollout === null ? 'before anything begins' : 'before the first server';
  return asked.map(({ name, wave, rule }) => {
    const when = wave === null ? start : `before wave ${plainText(wave)}`;
    return `approvals: ${plainText(name)}, ${ruleText(rule)}, ${when}`;
  });
}

function ruleText(rule: AskedFor['rule']): string {
  if (rule === null) return 'which is not in the belay.yaml of this machine';
  const { need, from, proof } = rule;
  const who = from === null ? '' : ` of ${from.map((it) => plainText(it)).join(', ')}`;
  return `${need}${who} (${proof === 'none' ? 'audit only' : `proof: ${proof}`})`;
}
