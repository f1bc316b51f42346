/** The queries of docs/how-to/operate.md, in the lists of the Temporal UI. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { read } from '../support/compose.ts';
import { openUi } from './browser.ts';
import { openList } from './pages.ts';
import * as scenes from './scenes.ts';
import { stage, UIS } from './stage.ts';

const QUERIES = [...read('docs/how-to/operate.md').matchAll(/workflows\?query=([^)]+)\)[^`]*`([^`]+)`/g)].map(
  ([, query = '', shown = '']) => ({ query: decodeURIComponent(query), shown }),
);

describe('the queries of the runbook', () => {
  before(async () => {
    // One for each query to find.
    const { completedRun, failedRun, queuedRun, parkedRun, rolloutInFlight } = scenes;
    for (const scene of [completedRun, failedRun, queuedRun, parkedRun, rolloutInFlight]) await scene();
  });

  test('are those that their links open', () => {
    assert.equal(QUERIES.length, 5);
    for (const { query, shown } of QUERIES) assert.equal(query, shown);
  });

  for (const name of UIS) {
    test(`find what they are for in the UI ${name}`, async () => {
      const ui = await openUi((await stage()).uiUrls[name]);
      for (const { query } of QUERIES) await openList(ui, query);
    });
  }
});
