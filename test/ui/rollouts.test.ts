/** What the page of a rollout shows in the Temporal UI. */
import { before, describe, test } from 'node:test';
import type { Rollout } from '../../src/starter.ts';
import { openUi, type Ui } from './browser.ts';
import { follow, isOn, openDetails, shown } from './pages.ts';
import { rolloutInFlight } from './scenes.ts';
import { stage, UIS, type UiName } from './stage.ts';

describe('rollouts', () => {
  let rollout: Rollout;
  before(async () => {
    rollout = await rolloutInFlight();
  });

  async function open(name: UiName): Promise<Ui> {
    const ui = await openUi((await stage()).uiUrls[name]);
    await openDetails(ui, rollout.workflowId);
    return ui;
  }

  for (const name of UIS) {
    test(`the page of a rollout shows its waves, limits and commands in the UI ${name}`, async () => {
      const ui = await open(name);
      await shown(ui, 'details', /Rolls nightly out: one run for each server of the fleet shop, wave by wave/);
      await shown(ui, 'details', /Waves: canary with 1 server, remaining with 3 servers\s+At once: at most 1 server\n/);
      await shown(ui, 'details', /Tolerated failures: 1, and one more pauses the rollout/);
      await shown(ui, 'current', new RegExp(`npx belay-deploy rollout pause ${rollout.workflowId} --reason TEXT`));
    });

    test(`the page of a rollout lists its servers, failed ones first, and leads to their runs in the UI ${name}`, async () => {
      const ui = await open(name);
      await shown(ui, 'current', /^\s*running: 1 of at most 1 server running \(r3\), 1 pending/);
      await shown(ui, 'current', /Servers: 1 failed, 1 completed, 1 running, 1 pending/);
      const failed = /r2\s+remaining\s+failed: the backup of server r2 \(\d+\) failed[^\n]*\s+2 not started/;
      const others = /r3\s+remaining\s+in progress\s+2 running\s+r1\s+canary\s+completed\s+2 completed/;
      await shown(ui, 'current', new RegExp(`${failed.source}\\s+${others.source}`));
      const tab = await follow(ui, 'current', 'r2');
      await isOn(tab, 'backup-then-deploy:r2:nightly.2026-11-24');
    });
  }

  describe('once it is paused', () => {
    before(() => rollout.pause({ by: 'anne', reason: 'the shop is slow' }));

    for (const name of UIS) {
      test(`the page of a rollout shows who paused it and why in the UI ${name}`, async () => {
        const ui = await open(name);
        await shown(ui, 'current', /^\s*paused by anne because the shop is slow: resume or abort it/);
      });
    }
  });
});
