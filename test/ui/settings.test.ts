/** What docker-compose.yml sets for its UI. Above all it disables Reset: a run that was reset ends `unknown`. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { service } from '../support/compose.ts';
import { openUi, type Ui } from './browser.ts';
import { openWorkflow } from './pages.ts';
import { completedRun, runInFlight } from './scenes.ts';
import { uiProgram } from './shipped-ui.ts';
import { stage } from './stage.ts';

test('the UI of docker-compose.yml reads every setting that it is given', async () => {
  const { sourceFolder } = await uiProgram();
  const template = await readFile(join(sourceFolder, 'config/docker.yaml'), 'utf8');
  for (const name of Object.keys(service('temporal-ui').environment))
    assert.ok(template.includes(`env "${name}"`), name);
});

describe('Reset', () => {
  /** Waits for it: a page shows the button before it knows the settings of the server. */
  const resetButton = ({ page }: Ui, { disabled }: { disabled: boolean }) =>
    page.getByRole('button', { name: 'Reset', exact: true, disabled }).filter({ visible: true }).waitFor();

  /** What the menu of the run in flight lets people choose. */
  async function choices(ui: Ui): Promise<string[]> {
    await openWorkflow(ui, (await runInFlight()).workflowId);
    await ui.page.getByRole('button', { name: 'More Actions' }).filter({ visible: true }).click();
    const items = ui.page.getByRole('menuitem').filter({ visible: true });
    await items.filter({ hasText: 'Terminate' }).waitFor();
    return (await items.allInnerTexts()).map((text) => text.trim());
  }

  test('the UI of docker-compose.yml lets people reset no run, neither closed nor in flight', async () => {
    const ui = await openUi((await stage()).uiUrls['of docker-compose.yml']);
    await openWorkflow(ui, (await completedRun()).workflowId);
    await resetButton(ui, { disabled: true });
    assert.ok(!(await choices(ui)).some((it) => it.startsWith('Reset')));
    await ui.page.getByText('Resetting workflows is not enabled').filter({ visible: true }).waitFor();
  });

  test('the UI of the embedded server has no setting for it, and offers it', async () => {
    const ui = await openUi((await stage()).uiUrls['of the embedded server']);
    await openWorkflow(ui, (await completedRun()).workflowId);
    await resetButton(ui, { disabled: false });
    assert.ok((await choices(ui)).some((it) => it.startsWith('Reset')));
  });
});
