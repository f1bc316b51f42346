import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusalOfAddress } from '../../src/site-check/resolve.ts';

const PRIVATE = [
  ...['127.0.0.1', '127.8.9.10', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '0.0.0.0'],
  ...['224.0.0.1', '255.255.255.255', '::1', '::', 'fc00::1', 'fd12:3456::1', 'ff02::1'],
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:7f00:1::', '2002:c0a8:101::'],
  ...['::7f00:1', '::10.0.0.1', '64:ff9b:1::5db8:d822', '64:ff9b:1:5db8:d8:2200::'],
];
const NEVER = [
  ...['169.254.169.254', '169.254.0.1', '100.100.100.200', 'fe80::1', 'fd00:ec2::254'],
  ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::'],
  ...['168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110', '192.0.0.192', 'fd20:ce::254', '::a9fe:a9fe'],
  // A network chooses where its own NAT64 puts the address of IPv4: prefixes of 96, 64, 56 and 48 bits.
  ...['64:ff9b:1::a9fe:a9fe', '64:ff9b:1:0:a9:fea9:fe00::', '64:ff9b:1:a9:fe:a9fe::', '64:ff9b:1:a9fe:a9:fe00::'],
];
const PUBLIC = ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34', '64:ff9b::5db8:d822'];

describe('a check', () => {
  for (const address of PRIVATE) {
    test(`reaches ${address} for private sites only`, () => {
      assert.match(refusalOfAddress(address, false) ?? '', /is not a public address: set private: true/);
      assert.equal(refusalOfAddress(address, true), null);
    });
  }

  for (const address of NEVER) {
    test(`never reaches ${address}`, () => {
      for (const isPrivate of [false, true])
        assert.match(refusalOfAddress(address, isPrivate) ?? '', /link-local or metadata address/);
    });
  }

  for (const address of PUBLIC) {
    test(`reaches ${address}`, () => assert.equal(refusalOfAddress(address, false), null));
  }

  test('reaches nothing that is not an address', () => {
    assert.match(refusalOfAddress('example.com', true) ?? '', /is not an address/);
  });
});
