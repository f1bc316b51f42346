import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyUnreachable } from '../../src/client/transport/why-unreachable.ts';

const REFUSED_CERTIFICATE = [
  'source: tonic::transport::Error(Transport, hyper::Error(Io, Custom { kind: BrokenPipe, error: "stream closed" }))',
  'source: tonic::transport::Error(Transport, hyper::Error(Canceled, "connection closed"))',
];

for (const source of REFUSED_CERTIFICATE) {
  test(`a server that ended the connection is not one that is down: ${source.slice(-40)}`, () => {
    const { problem, remedy } = whyUnreachable(new Error(`Failed to call GetSystemInfo: ${source}`));
    assert.equal(problem, 'ended the connection');
    assert.match(remedy, /client certificate/);
  });
}

test('gRPC for Node and the core of the SDK get the same remedy', () => {
  for (const [text, problem] of [
    ['Last error: Error: connect ECONNREFUSED 127.0.0.1:7233', 'does not answer: connection refused'],
    ['Name resolution failed for target dns:nonsense:7233', 'is at no address that this machine can find'],
    ["Hostname/IP does not match certificate's altnames: Host: localhost.", 'has a certificate for another name'],
    ['Last error: Error: self-signed certificate in certificate chain', 'has a certificate of an unknown authority'],
    ['Last error: Error: unable to verify the first certificate', 'has a certificate of an unknown authority'],
    ['Last error: Error: certificate has expired', 'has an expired certificate'],
    ['SSL routines:ssl3_get_record:wrong version number', 'does not speak TLS'],
    ['Last error: Protocol error', 'ended the connection'],
    ['Last error: Failed to connect (2027-01-31T12:00:00.000Z). Resolution note: ', 'ended the connection'],
  ])
    assert.equal(whyUnreachable(new Error(`14 UNAVAILABLE: No connection established. ${text}`)).problem, problem);
});
