/** Pages of the Temporal UI, by their routes and test ids, which change less than their looks. */
import type { FrameLocator, Locator } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import type { Ui } from './browser.ts';

const WORKFLOWS = '/namespaces/default/workflows';
/** After this time, a list without a row is opened again. */
const LOOK_MS = 10_000;

export const rows = ({ page }: Ui): Locator => page.getByTestId('workflows-summary-configurable-table-row');
const heading = ({ page }: Ui): Locator => page.getByTestId('workflow-id-heading');

/** Opens a list that has at least one row. Temporal updates its lists a moment later, and the page does not look again. */
export async function openList(ui: Ui, query: string): Promise<void> {
  const list = `${ui.url}${WORKFLOWS}?query=${encodeURIComponent(query)}`;
  await eventually(`a row of ${query}`, async () => {
    await ui.page.goto(list);
    return rows(ui)
      .first()
      .waitFor({ timeout: LOOK_MS })
      .then(
        () => true,
        () => false,
      );
  });
}

/** The newest execution. */
export async function openWorkflow(ui: Ui, workflowId: string): Promise<void> {
  await ui.page.goto(`${ui.url}${WORKFLOWS}/${encodeURIComponent(workflowId)}`);
  await isOn(ui, workflowId);
}

/** Waits until the page of a workflow is there. */
export const isOn = (ui: Ui, workflowId: string): Promise<void> =>
  heading(ui).filter({ hasText: workflowId }).waitFor();

export async function openTab({ page }: Ui, name: 'user-metadata' | 'search-attributes'): Promise<void> {
  await page.getByTestId(`${name}-tab`).click();
}

/** The tab that shows summary, details and current details, each in a frame. */
export async function openDetails(ui: Ui, workflowId: string): Promise<void> {
  await openWorkflow(ui, workflowId);
  await openTab(ui, 'user-metadata');
}

const FRAMES = { summary: 0, details: 1, current: 2 };

const frame = ({ page }: Ui, part: keyof typeof FRAMES): FrameLocator =>
  page.frameLocator('iframe[title="output"]').nth(FRAMES[part]);

/** Waits until a part of the page shows it. @returns all text of that part */
export function shown(ui: Ui, part: keyof typeof FRAMES, expected: RegExp): Promise<string> {
  let text = '';
  return eventually(`${expected} in the ${part} of ${ui.page.url()}`, async () => {
    const body = frame(ui, part).locator('body');
    text = (await body.innerText()).replaceAll('\u00a0', ' ');
    if (expected.test(text)) return text;
    // The frame has not loaded yet.
    if (text.trim() === '') return null;
    // The key that the page names.
    await ui.page.keyboard.press('r');
    return null;
  }).catch((error: unknown) => Promise.reject(new Error(`the ${part} shows:\n${text}`, { cause: error })));
}

/** Follows a link of a part, which opens a new tab. @returns the UI of that tab, to close */
export async function follow(ui: Ui, part: keyof typeof FRAMES, name: string): Promise<Ui> {
  const opened = ui.page.context().waitForEvent('page');
  await frame(ui, part).getByRole('link', { name, exact: true }).click();
  return { ...ui, page: await opened };
}
