/** Deployments at GitLab, from a receiver that loses answers: GitLab stores nothing that shows whose one is. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, beforeEach, describe, test } from 'node:test';
import { createNotifier } from '../../../src/features/notifications/worker.ts';
import type { ReportedState, ReportNote } from '../../../src/features/notifications/shapes.ts';
import { siteTarget } from '../../../src/contract/target.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { secretFile } from '../../support/receiver.ts';
import { CANARY } from './shared.ts';

const COMMIT = 'ab'.repeat(20);
const OTHER = 'cd'.repeat(20);

interface Deployment {
  id: number;
  sha: string;
  ref: string;
  tag: boolean;
  environment: string;
  status: string;
  deployable: object | null;
}
const deployments: Deployment[] = [];
const asked: string[] = [];
/** Whose next request has its effect, but no answer: its method. */
const lost: string[] = [];
/** What happens instead of the next POST, whose connection breaks. */
const instead: (() => void)[] = [];

let service: LiteralService;
before(async () => {
  service = await literalService((request, response) => {
    void text(request).then((body) => {
      const method = request.method ?? '';
      const url = new URL(request.url ?? '', 'http://gitlab');
      asked.push(`${method} ${url.pathname}`);
      assert.equal(request.headers['private-token'], CANARY);
      const other = method === 'POST' ? instead.shift() : undefined;
      if (other !== undefined) return void (other(), request.socket.destroy());
      const answer = answerTo(method, url, body);
      if (lost[0] === method) return void (lost.shift(), request.socket.destroy());
      response.writeHead(answer === null ? 400 : 200).end(JSON.stringify(answer));
    });
  });
});
beforeEach(() => [deployments, asked, lost, instead].forEach((it) => it.splice(0)));

/** As GitLab does: each POST makes one, and a status that it has already is refused. */
function answerTo(method: string, { pathname, searchParams }: URL, body: string): unknown {
  const given = body === '' ? {} : (JSON.parse(body) as Partial<Deployment>);
  if (method === 'POST') return made(given);
  const found = deployments.find(({ id }) => pathname.endsWith(`/deployments/${id}`));
  if (found === undefined)
    return deployments.filter((it) => it.environment === searchParams.get('environment')).toReversed();
  if (method === 'PUT' && found.status === given.status) return null;
  return Object.assign(found, method === 'PUT' ? { status: given.status } : {});
}

function made(given: Partial<Deployment>): Deployment {
  const it = { deployable: null, ref: '', tag: false, environment: '', sha: '', status: '', ...given };
  const numbered = { ...it, id: deployments.length + 1 };
  deployments.push(numbered);
  return numbered;
}

/** Sends states as the workflow does: with the last note, until it is taken. */
async function place(environment = 'production') {
  const token = await secretFile(CANARY);
  const shop = { kind: 'gitlab' as const, project: 'acme/shop', token, url: service.url };
  const reports = { shop: { ...shop, as: 'deployment' as const, environment, branch: 'main' } };
  const { sendReport } = await createNotifier({ reports });
  let note: ReportNote | undefined;
  const to = { kind: 'report' as const, name: 'shop', target: siteTarget('34'), commit: COMMIT };
  const run = { workflowId: 'deploy:34:k', firstRunId: '0199f3c2-0000-7000-8000-000000000001' };
  return async (state: ReportedState): Promise<string[]> => {
    for (const answers: string[] = []; ;) {
      const noted = note === undefined ? {} : { note };
      const answer = await sendReport({ ...run, to, reported: { state, text: 'in progress' }, ...noted });
      if ('note' in answer) note = answer.note;
      answers.push(answer.kind);
      if (answer.kind === 'taken') return answers;
    }
  };
}

const own = () => deployments.filter(({ sha }) => sha === COMMIT).map(({ id, status }) => [id, status]);

describe('deployments at GitLab', () => {
  test('a run gets one deployment of its commit, which has each of its states', async () => {
    made({ sha: OTHER, environment: 'production', status: 'success' });
    const send = await place();
    await send('waiting');
    assert.equal(asked.length, 0);
    const seen = [];
    for (const state of ['begun', 'completed'] as const) seen.push(await send(state), own()[0]?.[1]);
    assert.deepEqual(seen, [['later', 'taken'], 'running', ['taken'], 'success']);
    const { ref, tag, environment } = deployments[1]!;
    assert.deepEqual([ref, tag, environment], ['main', false, 'production']);
    assert.deepEqual(own(), [[2, 'success']]);
    assert.ok(asked.every((it) => it.includes('/projects/acme%2Fshop/deployments')));
  });

  for (const [state, status] of [
    ['completed', 'success'],
    ['failed', 'failed'],
    ['unclear', 'failed'],
    ['cancelled', 'canceled'],
    ['refused', 'failed'],
  ] as const) {
    test(`a run that ends ${state} leaves its deployment ${status}, whether it began there or not`, async () => {
      await (
        await place('fresh')
      )(state);
      const send = await place('begun');
      await send('begun');
      await send(state);
      assert.deepEqual(
        own(),
        [1, 2].map((id) => [id, status]),
      );
    });
  }

  for (const method of ['POST', 'PUT', 'GET']) {
    test(`a lost answer to ${method} makes no second deployment`, async () => {
      const send = await place();
      lost.push(method);
      for (const state of ['begun', 'completed'] as const) await send(state);
      assert.deepEqual([own(), lost], [[[1, 'success']], []]);
    });
  }

  test('deployments of another commit, of a job, and from before are not taken for its own', async () => {
    const production = { environment: 'production', status: 'running' };
    made({ ...production, sha: COMMIT });
    const send = await place();
    instead.push(() => {
      made({ ...production, sha: OTHER });
      made({ ...production, sha: COMMIT, deployable: { id: 7 } });
    });
    await send('begun');
    await send('completed');
    assert.deepEqual(
      deployments.map(({ status }) => status),
      ['running', 'running', 'running', 'success'],
    );
  });
});
