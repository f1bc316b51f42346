/** An answer without an id, although the service shows ids, may be that of a replica that lags. It ends no wait at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime, type StackOptions, type VirtualStack } from '../../stack/stack.ts';
import { checked, OURS, BEFORE, page, shows, SITE } from '../runs/checked-sites.ts';
import { namedSite } from './named-site.ts';

const is = (status: string, id: number | undefined) => ({ status, id });
const [NO_ID, RUNNING] = [is('completed', undefined), is('running', 2)];
/** Ours fails, and a replica shows the deployment of before in between. */
const READS = [RUNNING, NO_ID, RUNNING, is('failed', 2)];

interface Case {
  name: string;
  old?: object[];
  answered?: object;
  reads?: object[];
  input?: RunInput;
  options?: StackOptions;
  verdict: string;
}

const CASES: Case[] = [
  { name: 'ours was shown in progress', verdict: 'failed by transition' },
  { name: 'the id of the request was shown in progress', answered: { id: 2 }, verdict: 'failed by identity' },
  {
    name: 'ours was shown in a pooled wait',
    answered: { id: 2 },
    reads: [RUNNING, RUNNING, RUNNING, ...READS],
    input: { waits: 'pooled' },
    verdict: 'failed by identity',
  },
  {
    name: 'only what the run read when it was admitted had one',
    old: [is('failed', 1), NO_ID],
    reads: [is('running', undefined), NO_ID, RUNNING, is('failed', 2)],
    verdict: 'failed by transition',
  },
  {
    name: 'deploymentId names the field and the answer to the request had one',
    answered: { id: 5 },
    reads: [is('failed', undefined), is('running', 5), is('completed', 5)],
    options: { configuration: { deploymentId: 'id' } },
    verdict: 'completed by identity',
  },
  {
    name: 'its id is in another field than ours',
    old: [is('completed', 1), is('completed', 1)],
    answered: { id: 2 },
    reads: [RUNNING, { status: 'completed', uuid: 'z' }, RUNNING, is('failed', 2)],
    verdict: 'failed by identity',
  },
  {
    name: 'it has the id of before in another field',
    old: [is('completed', 1), is('completed', 1)],
    answered: { id: 2 },
    reads: [RUNNING, { status: 'completed', data: { id: 1 } }, RUNNING, is('failed', 2)],
    verdict: 'failed by identity',
  },
];

describe('an answer without an id', () => {
  for (const { name, old = [NO_ID, NO_ID], answered = {}, reads = READS, input, options, verdict } of CASES)
    test(
      `ends no wait at once if ${name}`,
      inVirtualTime(async ({ sandbox, start, result }: VirtualStack) => {
        const siteId = namedSite(sandbox, { old, answered, now: reads });
        assert.equal(verdictLine(await result(start({ siteIds: [siteId], ...input }))), verdict);
      }, options),
    );

  test(
    'ends no wait at once if a run watches a deployment that was shown in progress',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = namedSite(sandbox, { old: [NO_ID], answered: {}, now: READS });
      const watched = await result(start({ siteIds: [siteId] }, { type: 'watchDeployment' }));
      assert.equal(verdictLine(watched), 'failed by transition');
    }),
  );

  test(
    'ends no wait at once if the page of the site shows the expected commit',
    checked(async ({ sandbox, start, result }) => {
      sandbox.fault(page(shows(BEFORE), 1), page(shows(OURS)));
      namedSite(
        sandbox,
        { old: [NO_ID, NO_ID], answered: { id: 2 }, now: [RUNNING, NO_ID, NO_ID, NO_ID, RUNNING, is('failed', 2)] },
        SITE,
      );
      const ended = await result(start({ siteIds: [SITE], commit: OURS, deploy: { minEvidence: 'identity' } }));
      assert.equal(verdictLine(ended), 'failed by identity');
    }),
  );

  test(
    'decides once it has lasted, although ours was shown in progress with one',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = namedSite(sandbox, { old: [NO_ID, NO_ID], answered: {}, now: [RUNNING, NO_ID] });
      assert.equal(verdictLine(await result(start({ siteIds: [siteId] }))), 'completed by transition');
    }),
  );

  for (const [what, reads] of [
    ['an older one', [is('failed', undefined), NO_ID]],
    ['the one of before', [is('failed', undefined), is('completed', 1), is('completed', 1), is('completed', 1), NO_ID]],
  ] as const)
    test(
      `is no trace of a request without effect if ${what} follows`,
      inVirtualTime(async ({ sandbox, start, result }) => {
        const siteId = namedSite(sandbox, {
          old: [is('completed', 1), is('completed', 1)],
          answered: 'lost',
          now: [...reads],
        });
        const { outcome, deployments, error } = await result(start({ siteIds: [siteId] }));
        assert.equal(outcome, 'unknown');
        assert.equal(deployments[0]?.trigger.reconciledBy, null);
        assert.match(error?.message ?? '', /the status changed/);
      }),
    );

  test(
    'is a trace once it has lasted',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = namedSite(sandbox, {
        old: [is('completed', 1), is('completed', 1)],
        answered: 'lost',
        now: is('failed', undefined),
      });
      assert.equal(verdictLine(await result(start({ siteIds: [siteId] }))), 'failed by changed');
    }),
  );
});
