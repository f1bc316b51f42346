/** The canonical form of what is hashed: the vectors of RFC 8785, so that other programs come to the same hash. */
// cspell:ignore Dagesh Dalet
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { canonicalJson, hashOf } from '../../src/contract/canonical-json.ts';

test('the canonical form of the sample of RFC 8785, section 3.2.2, is that of section 3.2.3', () => {
  const sample = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const form =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`;
  assert.equal(canonicalJson(JSON.parse(sample)), form);
});

test('the canonical form sorts keys by UTF-16 code units, as the sample of RFC 8785, section 3.2.3', () => {
  const sample = String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`;
  const names = [...canonicalJson(JSON.parse(sample)).matchAll(/:"([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

test('a hash is that of the canonical form, in which keys like numbers are ordered as texts', () => {
  const form = '{"meta":{"10":"x","9":"y"}}';
  assert.equal(hashOf({ meta: { 9: 'y', 10: 'x' } }), createHash('sha256').update(form).digest('hex'));
});

for (const [ieee, text] of [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
] as const) {
  test(`the canonical form of the number ${ieee} of RFC 8785, appendix B, is ${text}`, () => {
    assert.equal(canonicalJson(Buffer.from(ieee, 'hex').readDoubleBE()), text);
  });
}
