/** Asks GitHub Actions for a token that says which job this is, for one plan only. */
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { audienceOf } from './proof-github.ts';
import { tokenRequest } from '../../config/environment/github-actions.ts';
import type { Decided } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { messageOf } from '../../contract/message-of.ts';

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
