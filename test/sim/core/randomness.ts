/** The seed of a workflow's random numbers, as the SDK's core makes it from a run id: Rust's hash of a string. */

const MASK = (1n << 64n) - 1n;
const add = (a: bigint, b: bigint) => (a + b) & MASK;
const rotated = (a: bigint, bits: bigint) => ((a << bits) | (a >> (64n - bits))) & MASK;

type Words = [bigint, bigint, bigint, bigint];

/** SipHash-1-3 with a key of zeros, of the text and a byte that ends it. */
export function randomnessSeed(runId: string): bigint {
  const bytes = Buffer.concat([Buffer.from(runId), Buffer.from([0xff])]);
  const whole = bytes.length - (bytes.length % 8);
  let words: Words = [0x736f6d6570736575n, 0x646f72616e646f6dn, 0x6c7967656e657261n, 0x7465646279746573n];
  for (let at = 0; at < whole; at += 8) words = absorbed(words, bytes.readBigUInt64LE(at));
  const last = Buffer.alloc(8);
  bytes.copy(last, 0, whole);
  last[7] = bytes.length & 0xff;
  words = absorbed(words, last.readBigUInt64LE());
  words[2] ^= 0xffn;
  for (let round = 0; round < 3; round += 1) words = mixed(words);
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

function absorbed([a, b, c, d]: Words, word: bigint): Words {
  const [e, ...rest] = mixed([a, b, c, d ^ word]);
  return [e ^ word, ...rest];
}

function mixed([v0, v1, v2, v3]: Words): Words {
  v0 = add(v0, v1);
  v2 = add(v2, v3);
  v1 = rotated(v1, 13n) ^ v0;
  v3 = rotated(v3, 16n) ^ v2;
  v0 = add(rotated(v0, 32n), v3);
  v2 = add(v2, v1);
  v1 = rotated(v1, 17n) ^ v2;
  v3 = rotated(v3, 21n) ^ v0;
  return [v0, v1, rotated(v2, 32n), v3];
}
