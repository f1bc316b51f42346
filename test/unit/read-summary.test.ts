import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOfSummary, readSummary } from '../../src/contract/read-summary.ts';

test('what a wait shows is read again from the summary of its timer', () => {
  const tries = { try: 7, tries: 30 };
  for (const kind of ['backup', 'deployment', 'baseline', 'trace'] as const)
    for (const lastStatus of [null, 'building', 'read 1 of 2, last: x', '', 'zwei\nZeilen'])
      for (const name of ['try', 'early'] as const) {
        const operation = kind === 'backup' ? 'backup' : 'deployment';
        const shown = readOfSummary(readSummary({ kind, ...tries, lastStatus }, name), operation);
        const inOneLine = lastStatus?.replace('\n', ' ') ?? null;
        assert.deepEqual(shown, { kind, ...tries, lastStatus: inOneLine, lastReadAt: null });
      }
});

test('the summary of a hinted read, of a read while parked or after a failed one, and of other timers, shows no try', () => {
  const read = { kind: 'backup', try: 1, tries: 2, lastStatus: null } as const;
  for (const summary of [
    readSummary(read, 'hinted'),
    readSummary(read, 'parked'),
    readSummary(read, 'again'),
    'for deploy-site:a1',
    '',
  ])
    assert.equal(readOfSummary(summary, 'backup'), null, summary);
});
