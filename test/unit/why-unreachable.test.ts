import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyUnreachable } from '../../src/worker/why-unreachable.ts';

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
