/** Approvals as belay.yaml has them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { siteTarget } from '../../src/contract/target.ts';
import { HOUR_MS } from '../../src/contract/duration.ts';
import { policyOf } from '../../src/config/policy.ts';
import { requireSigners } from '../../src/features/approvals/worker-proofs.ts';
import { readText } from '../support/configuration-file.ts';
import { newSshSigner } from '../support/ssh-signer.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const FLEETS = `fleets:
  shop:
    servers:
      12: { sites: [34], labels: { tier: production } }
      13: { sites: [36], labels: { tier: test } }
`;
const approval = (rest: string) => `${FLEETS}approvals:\n  production: { ${rest} }\n`;
const read = (rest: string) => readText(folder, approval(rest));

describe('approvals in belay.yaml', () => {
  test('are for what their scope fits, and never for a backup alone', async () => {
    const { approvalsFor } = policyOf(await read('proof: none, for: { labels: { tier: production } }'));
    const names = (it: Parameters<typeof approvalsFor>[0]) => approvalsFor(it).map(({ rule }) => rule.name);
    assert.deepEqual(names({ target: siteTarget('34') }), ['production']);
    assert.deepEqual(names({ target: siteTarget('99'), serverId: '12' }), ['production']);
    assert.deepEqual([names({ target: siteTarget('36') }), names({ serverId: '12' })], [[], []]);
  });

  test('are for ids as the file writes them, also if those look like other numbers', async () => {
    const { approvalsFor } = policyOf(await read('proof: none, for: { sites: [0034] }'));
    assert.deepEqual(
      ['0034', '34'].map((id) => approvalsFor({ target: siteTarget(id) }).length),
      [1, 0],
    );
  });

  test('have one approver, a day to answer and twelve hours to begin unless they say otherwise', async () => {
    const { approval: named } = policyOf(await read('proof: ssh, signers: { file: /etc/belay/allowed_signers }'));
    const { need, from, proof, expiryMs, goodForMs, tell } = named('production')!.rule;
    assert.deepEqual([need, from, proof, tell], [1, null, 'ssh', null]);
    assert.deepEqual([expiryMs, goodForMs], [24 * HOUR_MS, 12 * HOUR_MS]);
    assert.equal(named('staging'), null);
  });

  test('are part of the hash of the policy', async () => {
    const { hash } = policyOf(await read('proof: none'));
    assert.notEqual(policyOf(await readText(folder, FLEETS)).hash, hash);
  });

  for (const [what, rest, problem] of [
    [
      'without a proof',
      'need: 1',
      /belay\.yaml:7: approvals\.production\.proof: it is missing; write ssh, github: with repository and environment, or none/,
    ],
    ['with ssh and no signers', 'proof: ssh', /approvals\.production\.proof: ssh needs signers: write signers/],
    ['with signers and no ssh', 'proof: none, signers: { file: x }', /production\.signers: only proof: ssh reads/],
    ['that need more than may decide', 'proof: none, from: [ana], need: 2', /production\.need: only 1 may decide/],
    ['that name someone twice', 'proof: none, from: [ana, ana]', /production\.from: names someone twice/],
    ['that stay open for over 30 days', 'proof: none, expiry: 721h', /production\.expiry: write a duration/],
    [
      'for a label that nothing has',
      'proof: none, for: { labels: { tier: prod } }',
      /no server has the label tier: prod/,
    ],
    [
      'that tell a channel that is not there',
      'proof: none, tell: [ops]',
      /production\.tell\.0: there is no ops: add it/,
    ],
  ] as [string, string, RegExp][]) {
    test(`are refused ${what}`, async () => {
      await assert.rejects(read(rest), problem);
    });
  }
});

describe('a worker', () => {
  const signers = () => join(folder, 'allowed_signers');
  const start = async (rest: string, file: string) => {
    await writeFile(signers(), file);
    await requireSigners(await read(`proof: ssh, signers: { file: ${signers()} }${rest}`));
  };
  const ana = () => `ana@example.com ${newSshSigner().publicKey}\n`;

  test('starts with signers that can answer what it asks', async () => {
    await start(', need: 1, from: [ana@example.com]', ana());
  });

  for (const [what, rest, file, problem] of [
    ['no usable line', '', '# empty\n', /approvals\.production\.signers: .*it has no signer/],
    [
      'a line that it refuses',
      '',
      `* ${newSshSigner().publicKey}\n`,
      /allowed_signers: line 1: principals must not be/,
    ],
    [
      'too few signers',
      ', need: 2',
      `${ana()}${ana()}`,
      /need: it asks for 2, and in the file of signers only 1 may decide/,
    ],
    [
      'one key for two names',
      ', need: 2',
      `ana,release@example.com ${newSshSigner().publicKey}\n`,
      /need: it asks for 2, and in the file of signers those who may decide share one key: lower it, or add keys/,
    ],
    [
      'one key for those who may decide, and another one for nobody',
      ', need: 2, from: [ana, release]',
      `ana,release ${newSshSigner().publicKey}\nbob ${newSshSigner().publicKey}\n`,
      /need: it asks for 2/,
    ],
    ['no key of one who may decide', ', from: [bob]', ana(), /production\.from: bob is not in the file of signers/],
  ] as const) {
    test(`does not start if its file of signers has ${what}`, async () => {
      await assert.rejects(start(rest, file), { name: 'ConfigError', message: problem });
    });
  }

  test('does not start without its file of signers', async () => {
    const missing = read('proof: ssh, signers: { file: /nowhere/allowed_signers }').then(requireSigners);
    await assert.rejects(missing, {
      name: 'ConfigError',
      message: /\/nowhere\/allowed_signers cannot be read \(ENOENT\)/,
    });
  });
});
