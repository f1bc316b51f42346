/** The file of allowed signers: what counts, what is refused, and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllowedSigners, proveBySsh, signersForApprovals } from '../../src/features/approvals/proof-signers.ts';
import { newSshSigner } from '../support/ssh-signer.ts';

const { publicKey, sign } = newSshSigner();
const other = newSshSigner();
const NOW = Date.parse('2026-11-25T12:00:00Z');
const TEXT = 'a text\n';

function prove(file: string, principal = 'ana@example.com', atMs = NOW): string {
  const signed = { signature: sign(TEXT), text: TEXT, principal };
  return proveBySsh(parseAllowedSigners(file), signed, atMs);
}

describe('the file of signers', () => {
  test('names principals and keys, among comments, empty lines and line ends of Windows', () => {
    const file = `# people\r\n\r\nana@example.com,boss ${publicKey} ana's laptop\r\n"bob the builder" ${other.publicKey}\r\n`;
    const signers = parseAllowedSigners(file);
    assert.deepEqual(
      signersForApprovals(signers).flatMap(({ principals }) => principals),
      ['ana@example.com', 'boss', 'bob the builder'],
    );
    assert.match(prove(file), /^SHA256:[A-Za-z0-9+/]{43}$/);
    assert.match(prove(file, 'boss'), /^SHA256:/);
  });

  for (const [what, line, problem] of [
    ['a pattern of principals', `*@example.com ${publicKey}`, /^line 2: principals must not be patterns/],
    ['a negated principal', `!ana ${publicKey}`, /^line 2: principals must not be patterns/],
    ['a certificate authority', `ana cert-authority ${publicKey}`, /^line 2: cert-authority is not supported/],
    ['a pattern of namespaces', `ana namespaces="*" ${publicKey}`, /^line 2: namespaces must not be patterns/],
    ['an unknown option', `ana verify-required ${publicKey}`, /^line 2: the option verify-required is not known/],
    ['an option without its value', `ana valid-after ${publicKey}`, /^line 2: valid-after needs a value/],
    ['a time that does not exist', `ana valid-after="20261332" ${publicKey}`, /^line 2: "20261332" is not a time/],
    [
      'times in the wrong order',
      `ana valid-after="20270101Z",valid-before="20260101Z" ${publicKey}`,
      /valid-before is not after/,
    ],
    ['no key', 'ana ssh-ed25519', /^line 2: it ends too early/],
    ['half a key', `ana ${publicKey.slice(0, 50)}`, /^line 2: the public key is cut off/],
    [
      'a key of another type',
      `ana ${publicKey.replace('ssh-ed25519', 'ssh-rsa')}`,
      /of the type ssh-ed25519, not ssh-rsa/,
    ],
    ['a DSA key', `ana ssh-dss ${Buffer.from('\0\0\0\x07ssh-dss').toString('base64')}`, /ssh-dss are not supported/],
    // Not cut in the middle of an emoji.
    ['a long type of key', `ana x ${'🚀'.repeat(60)} y`, /^line 2: "\u{1f680}{49}…" is not a type of key$/u],
    ['options that are none', `ana =${'🚀'.repeat(60)} ${publicKey}`, /"=\u{1f680}{48}…" cannot be read$/u],
    ['an empty principal', `ana,,bob ${publicKey}`, /^line 2: a principal is empty/],
  ] as [string, string, RegExp][]) {
    test(`is refused with ${what}, and the line is named`, () => {
      assert.throws(() => parseAllowedSigners(`# people\n${line}\n`), { name: 'ApprovalError', message: problem });
    });
  }

  test('is refused without a usable line', () => {
    for (const text of ['', '\n\n', '# only a comment\n']) {
      assert.throws(() => parseAllowedSigners(text), /it has no signer/);
    }
  });

  test('counts a key only for its principals and its uses', () => {
    const forFiles = `ana@example.com namespaces="file,git" ${publicKey}`;
    assert.throws(() => prove(forFiles), /is not for belay-approval@v1/);
    assert.match(prove(`${forFiles}\nana@example.com namespaces="git,belay-approval@v1" ${publicKey}`), /^SHA256:/);
    assert.throws(() => prove(`bob@example.com ${publicKey}`), /is not one of ana@example.com/);
    assert.throws(() => prove(`ana@example.com ${other.publicKey}`), /is not in the file of signers/);
  });

  for (const [option, isValid] of [
    ['valid-after="20261125Z"', true],
    ['valid-after="202611251200Z"', true],
    ['valid-after="20261125120001Z"', false],
    ['valid-before="20261125120001Z"', true],
    ['valid-before="20261125120000Z"', false],
    ['valid-after="20261101Z",valid-before="20261201Z"', true],
    ['Valid-Before="20261101Z"', false],
  ] as const) {
    test(`${isValid ? 'counts' : 'does not count'} a key with ${option} at noon of that day`, () => {
      const line = `ana@example.com ${option} ${publicKey}`;
      if (isValid) assert.match(prove(line), /^SHA256:/);
      else assert.throws(() => prove(line), /of ana@example.com is not valid now/);
    });
  }
});
