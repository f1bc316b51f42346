/** Tokens of GitHub's jobs, from an issuer on this machine that signs as GitHub does. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose';
import { planHash } from '../../src/features/approvals/shapes.ts';
import { createProofDeps, proverOf, policyApprovals } from '../../src/features/approvals/worker-proofs.ts';
import { approvalPlan } from '../support/approvals.ts';
import { ApprovalError } from '../../src/features/approvals/proof-ssh.ts';
import { audienceOf, createTokenVerifier, type GitHubGate } from '../../src/features/approvals/proof-github.ts';

const HASH = 'a'.repeat(64);
const NOW_MS = Date.parse('2026-11-25T12:00:00Z');
const CLAIMS = { repository_id: '123', environment: 'production', actor: 'ana', run_id: '77' };

let server: Server;
let issuer: string;
let key: CryptoKey;
let asked = 0;

before(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true });
  key = pair.privateKey;
  const keys = JSON.stringify({
    keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }],
  });
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/.well-known/jwks') response.setHeader('content-type', 'application/json').end(keys);
    else if (request.url === '/moved/.well-known/jwks')
      response.writeHead(302, { location: `${issuer}/.well-known/jwks` }).end();
    else response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.close();
});

interface Made {
  claims?: JWTPayload;
  audience?: string;
  by?: string;
  with?: CryptoKey;
  kid?: string;
}

const token = ({ claims = {}, by = issuer, with: signer = key, kid = 'one', ...made }: Made = {}) =>
  new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setIssuer(by)
    .setAudience(made.audience ?? audienceOf(HASH, 'approve'))
    .setIssuedAt(NOW_MS / 1_000)
    .setExpirationTime(NOW_MS / 1_000 + 300)
    .sign(signer);

const gate = (): GitHubGate => ({ repositoryId: '123', environment: 'production', issuer });

const verified = (given: string, atMs = NOW_MS, of = gate()) =>
  createTokenVerifier()(given, { gate: of, audience: audienceOf(HASH, 'approve'), actor: 'ana' }, atMs);

const doesNotCount = (problem: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApprovalError, String(error));
  assert.match(error.message, problem);
  return true;
};

const PLAN = approvalPlan();

describe('a token of a job of GitHub', () => {
  test('counts for its plan, and names the job', async () => {
    assert.equal(await verified(await token()), 'GitHub run 77');
  });

  for (const [what, made, problem] of [
    ['another plan', { audience: audienceOf('b'.repeat(64), 'approve') }, /"aud"/],
    ['another decision', { audience: audienceOf(HASH, 'reject') }, /"aud"/],
    ['another repository', { claims: { repository_id: '124' } }, /one of repository 124, not of 123/],
    ['another environment', { claims: { environment: 'staging' } }, /one of environment staging, not of production/],
    ['another person', { claims: { actor: 'eve' } }, /eve started the job, not ana/],
    ['another issuer', { by: 'https://token.example.com' }, /"iss"/],
  ] as [string, Made, RegExp][]) {
    test(`does not count with ${what}`, async () => {
      await assert.rejects(verified(await token(made)), doesNotCount(problem));
    });
  }

  test('does not count with the key of another issuer, without a signature, or cut off', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    await assert.rejects(verified(await token({ with: privateKey })), doesNotCount(/signature verification failed/));
    const unsigned = new UnsecuredJWT(CLAIMS).setIssuer(issuer).setAudience(audienceOf(HASH, 'approve')).encode();
    await assert.rejects(verified(unsigned), ApprovalError);
    await assert.rejects(verified((await token()).slice(0, -3)), ApprovalError);
  });

  test('does not count with a key that GitHub has replaced, and the message names the key and the remedy', async () => {
    const problem = /^GitHub no longer publishes the key "old" that signed the token: approve with a new token$/;
    await assert.rejects(verified(await token({ kid: 'old' })), doesNotCount(problem));
  });

  test('does not count once it is over, and still counts later as of the time when it was given', async () => {
    const given = await token();
    await assert.rejects(verified(given, NOW_MS + 10 * 60_000), doesNotCount(/"exp"/));
    assert.equal(await verified(given, NOW_MS + 60_000), 'GitHub run 77');
  });

  test('is left to another worker if the keys of the issuer cannot be read, or are elsewhere', async () => {
    for (const path of ['/broken', '/moved']) {
      const elsewhere = { ...gate(), issuer: `${issuer}${path}` };
      await assert.rejects(verified(await token({ by: `${issuer}${path}` }), NOW_MS, elsewhere), (error: unknown) => {
        assert.ok(!(error instanceof ApprovalError), path);
        assert.match((error as Error).message, /^the keys of GitHub cannot be read/);
        return true;
      });
    }
  });

  test('proves the name of no one else, although an answer of its own person is beside it', async () => {
    const [given, plan] = [await token({ audience: audienceOf(planHash(PLAN), 'approve') }), PLAN];
    const approvals = { production: { proof: { github: { repository: 123, environment: 'production', issuer } } } };
    const [approval] = policyApprovals({ approvals });
    const answer = (by: string) => ({
      by,
      ...{ why: null, decision: 'approve' as const, proof: { kind: 'github' as const, token: given } },
    });
    const prove = await proverOf(approval!, createProofDeps());
    const [eve, ana] = await Promise.all(['eve', 'ana'].map((by) => prove({ plan, ...answer(by), atMs: NOW_MS })));
    assert.equal(ana?.(NOW_MS), 'GitHub run 77');
    assert.throws(() => eve?.(NOW_MS), doesNotCount(/ana started the job, not eve/));
  });

  test('costs one question for the keys, however many are verified', async () => {
    const before = asked;
    const verify = createTokenVerifier();
    const use = { gate: gate(), audience: audienceOf(HASH, 'approve'), actor: 'ana' };
    for (let count = 0; count < 5; count += 1) await verify(await token(), use, NOW_MS);
    assert.equal(asked - before, 1);
  });
});
