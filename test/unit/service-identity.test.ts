import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedService, identityFrom } from '../../src/config/environment/environment.ts';
import { isServed } from '../../src/contract/service-identity.ts';
import { identityText, parseIdentity } from '../../src/contract/worker-identity.ts';

test('a service is its scheme, host, port and path, and its account', () => {
  const same: [text: string, account: string, identity: string][] = [
    ['https://panel.example/', '', 'https://panel.example'],
    ['https://PANEL.example:443/t1/', '', 'https://panel.example/t1'],
    ['https://panel.example:8443', '', 'https://panel.example:8443'],
    ['https://panel.example/t1', 'shop', 'https://panel.example/t1#shop'],
    ['https://panel.example/t1#other', 'shop', 'https://panel.example/t1#other'],
    ['http://panel.example', '', 'http://panel.example'],
  ];
  for (const [BELAY_SERVICE, BELAY_ACCOUNT, identity] of same) {
    assert.equal(namedService({ BELAY_SERVICE, BELAY_ACCOUNT }), identity);
  }
  assert.equal(namedService({}), null);
});

test('an address that names no service is rejected with the place and the remedy', () => {
  const wrong: [text: string, said: RegExp][] = [
    ['panel', /^--service is not a URL/],
    ['ftp://panel.example', /^--service must begin with https/],
    ['https://u:p@panel.example', /^--service must not contain a user/],
    ['https://panel.example/v1', /^--service must not end in \/v1/],
    ['https://panel.example?x', /^--service must end before "\?"/],
    ['https://panel.example#100%', /^--service has an account after "#" that is not percent-encoded: write % as %25/],
  ];
  for (const [text, said] of wrong) assert.throws(() => identityFrom('--service', text, {}), { message: said });
});

test('a service that moved is still the same one for what was recorded before', () => {
  const served = { service: 'https://new.example', formerly: ['https://old.example'] };
  assert.ok(isServed('https://new.example', served));
  assert.ok(isServed('https://old.example', served));
  assert.ok(!isServed('https://old.example#shop', served));
  assert.ok(!isServed('https://new.example/t1', served));
});

test("a worker's identity names its service and can be read back", () => {
  const identity = { version: '0.1.0', where: 'host:7', service: 'https://panel.example/t1#shop', since: '2026-11-22' };
  const [inEpoch, encrypting] = [
    { ...identity, epoch: 'after the fire' },
    { ...identity, encrypts: true },
  ];
  for (const it of [identity, inEpoch, encrypting, { ...inEpoch, ...encrypting }]) {
    assert.deepEqual(parseIdentity(identityText(it)), it);
  }
  assert.equal(parseIdentity('7@host'), null);
});
