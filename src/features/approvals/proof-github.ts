/** Verifies that a token of GitHub Actions comes from a job of an environment, and was made for one plan. */
import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import type { Decided } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import { ApprovalError } from './proof-ssh.ts';

/** Names the job that may approve. GitHub's rules for its environment decide who can start it. */
export interface GitHubGate {
  /** The number of the repository. It survives a rename. */
  repositoryId: string;
  environment: string;
  issuer: string;
}

export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com';

/** The audience binds a token to one decision about one plan. @param hash of the plan */
export const audienceOf = (hash: string, decision: Decided): string =>
  decision === 'approve' ? `belay:${hash}` : `belay:${decision}:${hash}`;

interface TokenUse {
  gate: GitHubGate;
  audience: string;
  /** The name that the answer gives for whoever started the job. */
  actor: string;
}

/**
 * @param atMs when the answer was given: the token expires a few minutes later
 * @returns which job it was. @throws ApprovalError if it proves nothing, Error if the issuer does not answer
 */
export type VerifyToken = (token: string, use: TokenUse, atMs: number) => Promise<string>;

const KEYS_TIMEOUT_MS = 2_000;
const CLOCK_TOLERANCE_S = 60;

/** Remembers a key set for each issuer, so that not every token costs a request. */
export function createTokenVerifier(): VerifyToken {
  const keys = new Map<string, JWTVerifyGetKey>();
  const keysOf = (issuer: string) => {
    const known = keys.get(issuer);
    if (known !== undefined) return known;
    const created = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks`), { timeoutDuration: KEYS_TIMEOUT_MS });
    keys.set(issuer, created);
    return created;
  };
  return async (token, { gate, audience, actor }, atMs) => {
    const { issuer } = gate;
    const { payload } = await jwtVerify(token, keysOf(issuer), {
      issuer,
      audience,
      algorithms: ['RS256'],
      currentDate: new Date(atMs),
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['exp', 'repository_id', 'environment', 'actor', 'run_id'],
    }).catch((error: unknown) => rethrow(error, token));
    const problem = problemOf(payload, gate, actor);
    if (problem !== null) throw new ApprovalError(problem);
    return `GitHub run ${plainText(String(payload['run_id']))}`;
  };
}

/** A defect of the token is final. An issuer that does not answer is asked again. */
function rethrow(error: unknown, token: string): never {
  if (error instanceof errors.JWKSNoMatchingKey) {
    const key = plainText(String(decodeProtectedHeader(token).kid), 100);
    throw new ApprovalError(
      `GitHub no longer publishes the key "${key}" that signed the token: approve with a new token`,
    );
  }
  const isOfIssuer =
    !(error instanceof errors.JOSEError) ||
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC';
  const message = error instanceof Error ? plainText(error.message) : 'it cannot be verified';
  if (isOfIssuer) throw new Error(`the keys of GitHub cannot be read (${message})`);
  throw new ApprovalError(`the token of GitHub does not count: ${message}`);
}

function problemOf(payload: JWTPayload, { repositoryId, environment }: GitHubGate, actor: string): string | null {
  const shown = (claim: string) => plainText(String(payload[claim]));
  if (payload['repository_id'] !== repositoryId)
    return `the job is one of repository ${shown('repository_id')}, not of ${repositoryId}`;
  if (payload['environment'] !== environment)
    return `the job is one of environment ${shown('environment')}, not of ${environment}`;
  if (payload['actor'] !== actor) return `${shown('actor')} started the job, not ${plainText(actor)}`;
  return null;
}
