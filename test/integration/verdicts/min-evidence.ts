import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { DeploymentResult, Evidence } from '../../../src/contract/run.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import type { Belay } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { literalService } from '../../support/literal.ts';
import { resultOf } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { addWorker, belayOn, fresh, startWorld, type World } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 60 };

let world: World;
let literal: Belay;
before(async () => {
  world = await startWorld();
  const { url } = await literalService((request, response) => {
    const [, , , siteId = ''] = request.url?.split('/') ?? [];
    const site = sites.get(siteId);
    if (site === undefined) return void response.writeHead(404).end('{}');
    if (request.method === 'POST') site.deployed = true;
    const said = request.method === 'POST' ? { id: site.answered } : site.deployed ? site.now : site.old;
    response.end(JSON.stringify(said));
  });
  await addWorker(world, 'literal', url);
  literal = await belayOn(world, 'literal');
});

/** A service that tells which deployment it speaks of; the sandbox doesn't, as nobody promised it. */
interface Site {
  old: object;
  /** The id in the answer to the POST. */
  answered: string;
  now: object;
  deployed?: boolean;
}
const sites = new Map<string, Site>();

async function deploy(siteId: string, minEvidence: Evidence, belay = world.belay): Promise<DeploymentResult> {
  const run = await belay.start({ siteIds: [siteId], deploy: { ...PACE, minEvidence } });
  return (await resultOf(run)).deployments[0]!;
}

function literalSite(site: Site): string {
  const siteId = fresh('a');
  sites.set(siteId, site);
  return siteId;
}

const brief = ({ outcome, evidence }: DeploymentResult) => `${outcome} by ${evidence}`;

/** A site of which no more than this evidence is to be had, and what drives it on. */
const SHOWING: Record<Exclude<Evidence, 'identity'>, () => { siteId: string; drive: () => Promise<void> }> = {
  settled: () => ({ siteId: siteAfter(world.sandbox, COMPLETED, COMPLETED), drive: async () => undefined }),
  changed: () => ({ siteId: siteAfter(world.sandbox, FAILED, COMPLETED), drive: async () => undefined }),
  transition: () => {
    const building: ScriptPart = { ends: 'never', words: ['building'] };
    const siteId = siteAfter(world.sandbox, COMPLETED, building, COMPLETED);
    const path = `/v1/sites/${siteId}/deployments/latest`;
    const drive = async () => {
      await eventually('it in progress', () => reads(world.sandbox, path).at(-1)?.said === 'building');
      world.sandbox.act({ site: siteId });
    };
    return { siteId, drive };
  },
};

const NEXT: [shown: Exclude<Evidence, 'identity'>, stronger: Evidence][] = [
  ['settled', 'changed'],
  ['changed', 'transition'],
  ['transition', 'identity'],
];

// Each test has sites of its own, and most of them wait: they run at once.
describe('the least evidence asked for', { concurrency: 12 }, () => {
  for (const [shown, stronger] of NEXT) {
    test(`${shown} is enough where ${shown} is asked for`, async () => {
      const { siteId, drive } = SHOWING[shown]();
      const [result] = await Promise.all([deploy(siteId, shown), drive()]);
      assert.equal(brief(result), `completed by ${shown}`);
    });

    test(`${shown} is too little where ${stronger} is asked for: unknown, and says which there was`, async () => {
      const { siteId, drive } = SHOWING[shown]();
      const [result] = await Promise.all([deploy(siteId, stronger), drive()]);
      assert.equal(brief(result), `unknown by ${shown}`);
      assert.equal(result.error?.type, 'OutcomeUnknown');
      assert.match(result.error?.message ?? '', new RegExp(`no better evidence than "${shown}"`));
      assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
    });
  }

  for (const status of ['completed', 'failed']) {
    test(`an id in the answers to the POST and of latest, old completed and ours ${status}: identity is enough`, async () => {
      const siteId = literalSite({
        old: { status: 'completed', id: 'd1' },
        answered: 'd2',
        now: { status, id: 'd2' },
      });
      assert.equal(brief(await deploy(siteId, 'identity', literal)), `${status} by identity`);
    });
  }

  test("an id in latest that is not that of the POST's answer is no identity", async () => {
    const siteId = literalSite({
      old: { status: 'failed', id: 'd1' },
      answered: 'd2',
      now: { status: 'completed', id: 'd3' },
    });
    assert.equal(brief(await deploy(siteId, 'identity', literal)), 'unknown by changed');
  });

  test('an id that latest had before the POST already is no identity', async () => {
    const old = { status: 'completed', id: 'd1' };
    const siteId = literalSite({ old, answered: 'd1', now: old });
    assert.equal(brief(await deploy(siteId, 'identity', literal)), 'unknown by settled');
  });
});
