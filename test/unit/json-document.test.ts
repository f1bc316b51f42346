import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyResult } from '../../src/contract/results.ts';
import { printFailure, printJson, startDocument } from '../../src/process/json-document.ts';

/** What is written to each stream meanwhile. */
function written(work: () => void): { stdout: string; stderr: string } {
  const texts = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array) => {
      texts[name] += String(chunk);
      return true;
    };
    return () => void (stream.write = write);
  });
  try {
    work();
  } finally {
    for (const undo of restore) undo();
  }
  return texts;
}

test('with --json, stdout has the first document of a command, and stderr has the later ones', () => {
  const { stdout, stderr } = written(() => {
    startDocument();
    printJson({ ready: true });
    printJson({ ready: false });
  });
  assert.deepEqual([stdout, stderr], ['{"ready":true}\n', '{"ready":false}\n']);
});

test('a command that fails after its document adds a line on stderr and no other document', () => {
  const failed = emptyResult({ error: { type: 'TemporalUnreachable', message: 'the server has ended' } });
  const { stdout, stderr } = written(() => {
    startDocument();
    printJson({ ready: true });
    printFailure(failed, true);
  });
  assert.deepEqual([stdout, stderr], ['{"ready":true}\n', 'belay: the server has ended\n']);
});

test('a command that fails before its document prints the failure as its only document', () => {
  const failed = emptyResult({ error: { type: 'Usage', message: 'no such option' } });
  const { stdout, stderr } = written(() => {
    startDocument();
    printFailure(failed, true);
  });
  assert.equal((JSON.parse(stdout) as typeof failed).error?.type, 'Usage');
  assert.equal(stderr, '');
});
