/** Signs a decision with `ssh-keygen`, which also asks an agent, a security key or a person for the passphrase. */
import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline/promises';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { BelayError } from '../../contract/errors.ts';
import { APPROVAL_NAMESPACE, PLAN_DIGITS } from './text.ts';
import { plainText, messageOf } from '../../contract/safe-text.ts';
import { audienceOf } from './proof-github.ts';
import { tokenRequest } from '../../config/environment/environment.ts';
import type { Decided, ApprovalQuestion } from './shapes.ts';

/** In the order in which `ssh` itself looks for them. */
const DEFAULT_KEYS = ['id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'id_rsa'];

/**
 * @param key a private key, or a public one whose private one an agent holds; undefined for the user's default
 * @returns the signature in the format of OpenSSH
 */
export async function signBySsh(signed: string, key: string | undefined): Promise<string> {
  const file = key ?? (await defaultKey());
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

async function defaultKey(): Promise<string> {
  for (const name of DEFAULT_KEYS) {
    const file = join(homedir(), '.ssh', name);
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  throw new BelayError('Usage', `there is no key to sign with in ${join(homedir(), '.ssh')}: name one with --key`);
}

/* Asks GitHub Actions for a token that says which job this is, for one plan only. */

const ANSWER_WITHIN_MS = 10_000;

const answered = z.object({ value: z.string() });

export interface JobToken {
  token: string;
  /** Who started the job, as the token says. */
  actor: string;
}

/** @param hash of the plan */
export async function jobToken(hash: string, decision: Decided): Promise<JobToken> {
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

/** @param plan what was seen; without it, a terminal asks. @throws BelayError `Usage` */
export async function confirm(
  { plan: { workflowId }, hash }: ApprovalQuestion,
  decision: Decided,
  plan: string | undefined,
): Promise<void> {
  if (plan !== undefined) {
    if (hash.startsWith(plan)) return;
    const remedy = 'read what it asks now, and decide again';
    throw new BelayError(
      'Usage',
      `${workflowId} asks about plan ${hash.slice(0, PLAN_DIGITS)}, not ${plan}: ${remedy}`,
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
