/** What a stranger learns about a run from its pages in the Temporal UI. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../src/contract/ids.ts';
import { openUi, type Ui } from './browser.ts';
import { assertRed } from './colour.ts';
import { follow, isOn, openDetails, openList, openTab, openWorkflow, rows, shown } from './pages.ts';
import { picture } from './pictures.ts';
import * as scenes from './scenes.ts';
import { stage, STARTER, UIS } from './stage.ts';

for (const name of UIS) {
  describe(`in the UI ${name}`, () => {
    let ui: Ui;
    before(async () => {
      ui = await openUi((await stage()).uiUrls[name]);
    });

    test('a stranger finds a run by BelaySite, and reads its phase, outcome and evidence', async () => {
      const { workflowId } = await scenes.completedRun();
      await openList(ui, 'BelaySite="a1"');
      await rows(ui).getByRole('link', { name: workflowId, exact: true }).click();
      await openTab(ui, 'search-attributes');
      const attributes = ui.page.getByText('"BelayOutcome"').locator('xpath=ancestor::*[contains(., "BelaySite")][1]');
      assert.match(await attributes.innerText(), /"BelayOutcome":\s*"completed"[^]*"BelayPhase":\s*"done"/);
      await openTab(ui, 'user-metadata');
      const now = await shown(ui, 'current', /^\s*completed\n/);
      assert.match(now, /site a1\s+\d+ polls\s+completed\s+transition\s+completed/);
      assert.match(now, /transition, it was seen in progress after the request/);
    });

    test('the page of a run shows who started it, what it does, where, its notes, its budgets and its operations', async () => {
      const { workflowId } = await scenes.completedRun();
      await openDetails(ui, workflowId);
      await shown(ui, 'summary', /Back up s1, then deploy a1/);
      const page = await shown(ui, 'details', /outcome would be unknown/);
      const { sandbox } = await stage();
      for (const text of [
        'Backs up server s1, waits until the backup is completed, then deploys site a1',
        `Started by: ${STARTER}`,
        `Service: ${sandbox.url}`,
        'Backup: at most 30 tries, one every 1s: 30s in all',
        'Each deployment: at most 30 tries, one every 1s: 30s in all, evidence at least settled',
        'commit: 4f2c9e1',
        'note: the new cart',
      ])
        assert.ok(page.includes(text), `${text}\n\n${page}`);
      await shown(ui, 'current', /backup s1\s+\d+ polls\s+completed\s+–\s+completed, id \d+, made by this run/);
      await picture(ui, name, 'run-in-temporal-ui');
      const list = await follow(ui, 'details', backupServerId('s1'));
      await rows(list)
        .getByRole('link', { name: backupServerId('s1'), exact: true })
        .waitFor();
      await list.page.close();
    });

    test('a run in flight leads to its operation, which shows what it waits for', async () => {
      const { workflowId } = await scenes.runInFlight();
      await openDetails(ui, workflowId);
      const now = await shown(ui, 'current', /^\s*deploy: deployment of a5 in progress; its page shows each try/);
      assert.match(now, /site a5\s+on its page\s+–\s+–\s+in progress\s+site a6\s+–\s+–\s+–\s+not begun/);
      const tab = await follow(ui, 'current', 'site a5');
      await isOn(tab, deploySiteId('a5'));
      await openTab(tab, 'user-metadata');
      const operation = await shown(tab, 'current', /transition, it was seen in progress/);
      assert.match(operation, /try \d+ of 360, last status building, next read at 20/);
      assert.match(operation, /Request: sent once, accepted 20\S+Z\s+Reads: try \d+ of 360\s+Last status: building/);
      assert.match(operation, /Read at: 20\S+Z\s+Evidence: transition/);
      await shown(tab, 'details', new RegExp(`Part of: ${workflowId}`));
      await tab.page.close();
    });

    test('a run that waits for a lock names the holder, and leads to it', async () => {
      const [{ workflowId }, holder] = [await scenes.queuedRun(), await scenes.runInFlight()];
      await openDetails(ui, workflowId);
      const waiting = `deployment of a5: waiting for the lock ${deploySiteId('a5')}, held by ${holder.workflowId}`;
      await shown(ui, 'current', new RegExp(`^\\s*queued: ${waiting}`));
      await picture(ui, name, 'waiting-run-in-temporal-ui');
      const tab = await follow(ui, 'current', holder.workflowId);
      await isOn(tab, holder.workflowId);
      await tab.page.close();
    });

    test('a run that follows a deployment shows its own tries', async () => {
      const { workflowId } = await scenes.followingRun();
      await openDetails(ui, workflowId);
      const trying = /deploy: deployment of a5: try \d+ of 360, last status building, next read at 20/;
      const now = await shown(ui, 'current', trying);
      assert.match(now, /site a5\s+try \d+ of 360\s+building\s+(–|transition)\s+in progress/);
    });

    test('a run whose operation is parked leads to it, which shows since when, until when and why', async () => {
      const { workflowId } = await scenes.parkedRun();
      await openDetails(ui, workflowId);
      await shown(ui, 'current', /^\s*deploy: deployment of a7 in progress; its page shows each try/);
      const tab = await follow(ui, 'current', 'its page');
      await isOn(tab, deploySiteId('a7'));
      await openTab(tab, 'user-metadata');
      const parked = /parked since 20\S+Z, at most until 20\S+Z, because the service does not answer \(.*503/;
      await shown(tab, 'current', parked);
      await tab.page.close();
    });

    test('a failed run is red, and shows why', async () => {
      const { workflowId } = await scenes.failedRun();
      await openList(ui, 'BelayOutcome="failed"');
      const row = rows(ui).filter({ hasText: workflowId });
      await assertRed(row.getByText('Failed', { exact: true }));
      await row.getByRole('link', { name: workflowId, exact: true }).click();
      await openTab(ui, 'user-metadata');
      const why = /^\s*failed \(DeploymentFailed\)\s+the deployment of site a3 failed: the service reports "failed"/;
      const now = await shown(ui, 'current', why);
      assert.match(now, /site a2\s+\d+ polls?\s+completed\s+transition\s+completed/);
      assert.match(now, /site a3\s+\d+ polls?\s+failed\s+transition\s+failed\s+site a4\s+–\s+–\s+–\s+not_started/);
      await picture(ui, name, 'failed-run-in-temporal-ui');
    });

    test('a frozen run is red, and names the freeze, its end and its reason', async () => {
      const { workflowId } = await scenes.frozenRun();
      await openWorkflow(ui, workflowId);
      await assertRed(ui.page.getByText('Failed', { exact: true }).first());
      await openTab(ui, 'user-metadata');
      const until = 'frozen by "stocktaking" until 2099-01-01 00:00 \\(UTC\\) because "the shop counts its stock"';
      await shown(ui, 'current', new RegExp(`^\\s*not_started \\(Frozen\\)\\s+site f1 was not deployed: ${until}`));
      await picture(ui, name, 'frozen-run-in-temporal-ui');
    });

    test('a run that waits for people names how many are missing, until when, and the command that approves it', async () => {
      const { workflowId } = await scenes.askingRun();
      await openDetails(ui, workflowId);
      const missing = 'waits for 1 more of 2 approvals \\(production, audit only\\) until 20\\S+Z';
      const command = `belay approve ${workflowId} --plan [0-9a-f]{12}`;
      await shown(ui, 'current', new RegExp(`^\\s*approval: ${missing}: ${command}`));
      await picture(ui, name, 'asking-run-in-temporal-ui');
    });

    test('a failed check names what the site answers, and its operation what it answered before', async () => {
      const { workflowId } = await scenes.failedCheckRun();
      await openDetails(ui, workflowId);
      const why = 'completed; check shop: status 503, expected 2xx; 0 of 5 reads were good';
      await shown(ui, 'current', new RegExp(`^\\s*failed \\(CheckFailed\\)[^]*${why}`));
      await openDetails(ui, deploySiteId('c1'));
      const before = 'before the request: status 200, as expected, commit aaaaaaa; last: status 503, expected 2xx';
      await shown(ui, 'current', new RegExp(`Check: shop: failed, 0 of 5 reads good; ${before}`));
      await picture(ui, name, 'failed-check-in-temporal-ui');
    });

    test('no page asks another server', () => {
      assert.deepEqual(ui.blocked, []);
    });
  });
}
