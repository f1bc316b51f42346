/** Signatures of SSH: those that ssh-keygen makes now, and those that nobody should believe. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllowedSigners } from '../../src/features/approvals/proof-signers.ts';
import { verifySshSignature } from '../../src/features/approvals/proof-ssh.ts';
import { APPROVAL_NAMESPACE } from '../../src/features/approvals/text.ts';
import { newSshSigner } from '../support/ssh-signer.ts';
import { WITH_SSH_KEYGEN } from '../support/with-ssh-keygen.ts';

const run = promisify(execFile);
const TEXT = 'belay approval v1\nrun: backup-then-deploy:12:release-7\n';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** The real program of OpenSSH, which CONTRIBUTING.md asks for. */
async function signedByProgram(name: string, keygen: string[], text: string, sign: string[] = []) {
  const path = join(folder, name);
  await run('ssh-keygen', ['-q', '-N', '', '-C', '', '-f', path, ...keygen]);
  const signing = run('ssh-keygen', ['-q', '-Y', 'sign', '-f', path, '-n', APPROVAL_NAMESPACE, ...sign]);
  signing.child.stdin?.end(text);
  return { signature: (await signing).stdout, publicKey: (await readFile(`${path}.pub`, 'utf8')).trim() };
}

const keyOf = (publicKey: string) => parseAllowedSigners(`ana@example.com ${publicKey}`)[0]?.key;

describe('a signature that ssh-keygen makes', WITH_SSH_KEYGEN, () => {
  for (const [name, keygen, sign] of [
    ['ed25519', ['-t', 'ed25519'], []],
    ['ecdsa-256', ['-t', 'ecdsa', '-b', '256'], []],
    ['ecdsa-384', ['-t', 'ecdsa', '-b', '384'], []],
    ['ecdsa-521', ['-t', 'ecdsa', '-b', '521'], []],
    ['rsa', ['-t', 'rsa', '-b', '2048'], []],
    ['ed25519-sha256', ['-t', 'ed25519'], ['-O', 'hashalg=sha256']],
  ] as [string, string[], string[]][]) {
    test(`proves its text and no other, with a key of the kind ${name}`, async () => {
      const { signature, publicKey } = await signedByProgram(name, keygen, TEXT, sign);
      assert.deepEqual(verifySshSignature(signature, TEXT), keyOf(publicKey));
      for (const other of [TEXT.slice(0, -1), `${TEXT}\n`, TEXT.replace('12', '13'), TEXT.replaceAll('\n', '\r\n')]) {
        assert.throws(() => verifySshSignature(signature, other), /not one of this text/);
      }
    });
  }

  test('proves nothing with an RSA key of 1024 bits', async () => {
    const { signature } = await signedByProgram('short', ['-t', 'rsa', '-b', '1024'], TEXT);
    assert.throws(() => verifySshSignature(signature, TEXT), /has 1024 bits/);
  });

  test('is the same with the line ends of Windows around it, and proves nothing about a text that has them', async () => {
    const { signature } = await signedByProgram('windows', ['-t', 'ed25519'], TEXT.replaceAll('\n', '\r\n'));
    const armor = signature.replaceAll('\n', '\r\n');
    assert.ok(verifySshSignature(armor, TEXT.replaceAll('\n', '\r\n')));
    assert.throws(() => verifySshSignature(armor, TEXT), /not one of this text/);
  });
});

const verified = (signature: string, text = TEXT) => verifySshSignature(signature, text);

describe('a signature of SSH', () => {
  const signer = newSshSigner();

  test('proves its text', () => {
    assert.deepEqual(verified(signer.sign(TEXT)), keyOf(signer.publicKey));
  });

  for (const [what, signature, problem] of [
    ['of another namespace', signer.sign(TEXT, { namespace: 'file' }), /sign with -n belay-approval@v1/],
    ['with a hash other than SHA-2', signer.sign(TEXT, { hash: 'sha1' }), /a hash other than sha256 and sha512/],
    ['of another format', signer.sign(TEXT, { magic: 'PGPSIG' }), /not a signature of SSH/],
    ['of a later version', signer.sign(TEXT, { version: 2 }), /has version 2/],
    ['that names another algorithm than its key', signer.sign(TEXT, { algorithm: 'ssh-rsa' }), /type ssh-rsa/],
    ['of a megabyte', signer.sign(TEXT) + ' '.repeat(1_048_576), /too long/],
    ['that is none', 'yes', /not what `ssh-keygen -Y sign` prints/],
  ] as const) {
    test(`${what} is rejected`, () => {
      assert.throws(() => verified(signature), problem);
    });
  }

  test('is rejected with any one of its bytes changed, and cut off at any place', () => {
    const [begin = '', ...lines] = signer.sign(TEXT).trimEnd().split('\n');
    const end = lines.pop() ?? '';
    const bytes = Buffer.from(lines.join(''), 'base64');
    const armored = (of: Buffer) => [begin, of.toString('base64'), end, ''].join('\n');
    assert.ok(verified(armored(bytes)));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => verified(armored(changed)), { name: 'ApprovalError' }, `byte ${at}`);
      assert.throws(() => verified(armored(bytes.subarray(0, at))), { name: 'ApprovalError' }, `first ${at} bytes`);
    }
    assert.throws(() => verified(armored(Buffer.concat([bytes, Buffer.from('x')]))), /1 bytes too many/);
  });

  test('of a security key counts only with a touch', () => {
    const key = newSshSigner(true);
    assert.deepEqual(verified(key.sign(TEXT)), keyOf(key.publicKey));
    assert.throws(() => verified(key.sign(TEXT), `${TEXT} `), /not one of this text/);
    assert.throws(() => verified(key.sign(TEXT, { flags: 0 })), /without a touch/);
  });
});
