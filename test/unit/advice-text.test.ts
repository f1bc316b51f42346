import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { glanceText, secondsText } from '../../src/contract/duration.ts';
import type { WaitingForRead } from '../../src/contract/waiting.ts';
import { adviceLines, etaText, type Eta } from '../../src/features/advice/actions.ts';
import { runMarkdown } from '../../src/cli/markdown-summary.ts';
import { etaOf } from '../../src/features/advice/actions-eta.ts';
import { liveLine } from '../../src/cli/follow.ts';
import { adviceOf, type OperationAdvice } from '../../src/features/advice/rules.ts';
import type { Observation } from '../../src/rules/usual.ts';
import type { RunStatus } from '../../src/starter.ts';

const SECOND = 1_000;
const NOW_MS = Date.parse('2026-11-25T12:00:00Z');
const agoText = (seconds: number): string => new Date(NOW_MS - seconds * SECOND).toISOString();

const usual = (seconds: number | null): Eta => ({
  ...{ usuallyMs: 130 * SECOND, p95Ms: 284 * SECOND, n: 40 },
  acceptedAt: seconds === null ? null : agoText(seconds),
});

describe('how long an operation usually takes', () => {
  test('is shown with how long it takes so far, until it takes longer than 95 % do', () => {
    assert.equal(etaText(usual(80), NOW_MS, true), 'usually 2m10s, 1m20s so far');
    assert.equal(etaText(usual(284), NOW_MS, true), 'usually 2m10s, 4m44s so far');
    assert.equal(etaText(usual(285), NOW_MS, true), 'longer than usual (95 % are done after 4m44s)');
  });

  test('is shown alone if its beginning or the 95th percentile is not known, and in lines that do not tick', () => {
    assert.equal(etaText(usual(null), NOW_MS, true), 'usually 2m10s');
    assert.equal(etaText({ ...usual(900), p95Ms: null }, NOW_MS, true), 'usually 2m10s, 15m00s so far');
    assert.equal(etaText(usual(80), NOW_MS, false), 'usually 2m10s');
    assert.equal(etaText(usual(285), NOW_MS, false), 'longer than usual (95 % are done after 4m44s)');
  });

  test('never counts below zero, however clocks differ', () => {
    assert.equal(etaText(usual(-30), NOW_MS, true), 'usually 2m10s, 1s so far');
  });

  test('is written for a glance or for a comparison', () => {
    assert.deepEqual([400, 45_000, 60_000, 3_599_600, 3_720_000].map(glanceText), [
      '1s',
      '45s',
      '1m00s',
      '1h00m',
      '1h02m',
    ]);
    assert.deepEqual([200, 2_040, 284_400].map(secondsText), ['0.2 s', '2 s', '284 s']);
  });
});

const took = (seconds: number, count: number): Observation[] =>
  Array.from({ length: count }, () => ({ ms: seconds * SECOND, ended: true }));
const past: OperationAdvice = adviceOf({ target: siteTarget('34') }, took(130, 20), null);

function waitingFor(more: Partial<WaitingForRead>): RunStatus {
  const deployment = { ...emptyDeployment(siteTarget('34')), acceptedAt: agoText(80) };
  const waiting: WaitingForRead = {
    ...{ kind: 'deployment', try: 7, tries: 30, lastStatus: 'building', lastReadAt: null, nextReadAt: agoText(0) },
    ...more,
  };
  return { result: emptyResult({ phase: 'deploy', deployments: [deployment] }), waiting, contact: 'answers' };
}

describe('a status', () => {
  test('shows what is usual while it waits for the end of an operation whose past is known', () => {
    const status = waitingFor({});
    assert.deepEqual(etaOf(status, [past]), { usuallyMs: 130_000, p95Ms: 130_000, n: 20, acceptedAt: agoText(80) });
    assert.match(
      liveLine(status, false, { ...usual(null) }),
      /^deployment of 34: try 7 of 30, last status "building"; usually 2m10s$/,
    );
    assert.equal(liveLine(status, false), 'deployment of 34: try 7 of 30, last status "building"');
  });

  test('shows nothing of it while it waits for something else, is parked, or knows too little', () => {
    const parked = { since: agoText(9), until: agoText(0), reason: '503' };
    for (const status of [waitingFor({ kind: 'baseline' }), waitingFor({ kind: 'trace' }), waitingFor({ parked })])
      assert.equal(etaOf(status, [past]), null);
    assert.equal(etaOf({ ...waitingFor({}), waiting: null }, [past]), null);
    const others = [
      adviceOf({ target: siteTarget('35') }, took(130, 20), null),
      adviceOf({ serverId: '34' }, took(9, 9), null),
    ];
    assert.equal(etaOf(waitingFor({}), others), null);
    assert.equal(etaOf(waitingFor({}), [adviceOf({ target: siteTarget('34') }, took(130, 4), null)]), null);
  });
});

describe('advice', () => {
  const budget = { intervalMs: 10 * SECOND, tries: 30 };

  test('is a line for each server and target, with a sentence below', () => {
    const tight = adviceOf({ target: siteTarget('34') }, [...took(130, 34), ...took(284, 6)], budget);
    assert.deepEqual(adviceLines([tight, adviceOf({ serverId: '12' }, took(60, 3), null)]), [
      'deployment of 34: usually 2m10s, 95 % within 4m44s (of 40); waited for up to 5m00s',
      '  p95 is 284 s of your 300 s: raise --deploy-tries to 43',
      'backup of 12: too few to tell: 3 in 30 days',
    ]);
  });

  test('stands below the table of a summary, with text from outside as code; without it, the summary is the same', () => {
    const hostile = '[x](http://y) <img>`';
    const result = { ...emptyResult(), deployments: [emptyDeployment(siteTarget(hostile))] };
    const advised = runMarkdown(result, [adviceOf({ target: siteTarget(hostile) }, took(290, 20), budget)]);
    const added = advised.slice(runMarkdown(result).length);
    assert.match(
      added,
      /^\n\n- advice on the deployment of `[^`]+`: p95 is 290 s of your 300 s: raise --deploy-tries to 44$/,
    );
    assert.doesNotMatch(advised.replace(/`[^`]*`/g, ''), /[<]|http:\/\/y/);
    assert.equal(runMarkdown(result, [past]), runMarkdown(result));
  });
});
