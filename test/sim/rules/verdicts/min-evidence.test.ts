import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Evidence } from '../../../../src/contract/names.ts';
import type { DeploymentResult } from '../../../../src/contract/run.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { began, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { namedSite } from './named-site.ts';

async function deploy(
  { start, result }: VirtualStack,
  siteId: string,
  minEvidence: Evidence,
  drive = async () => {},
): Promise<DeploymentResult> {
  const run = start({ siteIds: [siteId], deploy: { minEvidence } });
  await drive();
  return (await result(run)).deployments[0]!;
}

const brief = ({ outcome, evidence }: DeploymentResult) => `${outcome} by ${evidence}`;

interface Shown {
  siteId: string;
  /** Lets its deployment finish. */
  drive?: () => Promise<void>;
}

/** A site that shows at most this evidence. */
const SHOWING: Record<Exclude<Evidence, 'identity'>, (stack: VirtualStack) => Shown> = {
  settled: ({ sandbox }) => ({ siteId: siteAfter(sandbox, COMPLETED, COMPLETED) }),
  changed: ({ sandbox }) => ({ siteId: siteAfter(sandbox, FAILED, COMPLETED) }),
  transition: ({ sandbox, until }) => {
    const building: ScriptPart = { ends: 'never', words: ['building'] };
    const siteId = siteAfter(sandbox, COMPLETED, building, COMPLETED);
    const path = `/v1/sites/${siteId}/deployments/latest`;
    const drive = async () => {
      await until('a read in progress', () => reads(sandbox, path).at(-1)?.said === 'building');
      sandbox.act({ site: siteId });
    };
    return { siteId, drive };
  },
};

const NEXT: [shown: Exclude<Evidence, 'identity'>, stronger: Evidence][] = [
  ['settled', 'changed'],
  ['changed', 'transition'],
  ['transition', 'identity'],
];

describe('minimum evidence', () => {
  for (const [shown, stronger] of NEXT) {
    test(
      `${shown} is accepted if the minimum is ${shown}`,
      inVirtualTime(async (stack) => {
        const { siteId, drive } = SHOWING[shown](stack);
        assert.equal(brief(await deploy(stack, siteId, shown, drive)), `completed by ${shown}`);
      }),
    );

    test(
      `${shown} ends unknown if the minimum is ${stronger}, and the error names it`,
      inVirtualTime(async (stack) => {
        const { siteId, drive } = SHOWING[shown](stack);
        const result = await deploy(stack, siteId, stronger, drive);
        assert.equal(brief(result), `unknown by ${shown}`);
        assert.equal(result.error?.type, 'OutcomeUnknown');
        assert.match(result.error?.message ?? '', new RegExp(`no better evidence than "${shown}"`));
        assert.equal(began(stack.sandbox, 'deployment', siteId).length, 1);
      }),
    );
  }

  for (const status of ['completed', 'failed']) {
    test(
      `identity is accepted if POST and latest return the same id and ours is ${status}`,
      inVirtualTime(async (stack) => {
        const old = { status: 'completed', id: 'd1' };
        const siteId = namedSite(stack.sandbox, { old, answered: { id: 'd2' }, now: { status, id: 'd2' } });
        assert.equal(brief(await deploy(stack, siteId, 'identity')), `${status} by identity`);
      }),
    );
  }

  test(
    'an id in latest that differs from the id in the POST answer does not count as identity',
    inVirtualTime(async (stack) => {
      const [old, now] = [
        { status: 'failed', id: 'd1' },
        { status: 'completed', id: 'd3' },
      ];
      const siteId = namedSite(stack.sandbox, { old, answered: { id: 'd2' }, now });
      assert.equal(brief(await deploy(stack, siteId, 'identity')), 'unknown by changed');
    }),
  );

  test(
    'an id that latest returned before the POST does not count as identity',
    inVirtualTime(async (stack) => {
      const old = { status: 'completed', id: 'd1' };
      const siteId = namedSite(stack.sandbox, { old, answered: { id: 'd1' }, now: old });
      assert.equal(brief(await deploy(stack, siteId, 'identity')), 'unknown by null');
    }),
  );
});
