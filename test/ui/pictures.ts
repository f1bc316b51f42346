/** Pictures for the documents, written only with `--update`. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { inRepository } from '../support/compose.ts';
import type { Ui } from './browser.ts';
import type { UiName } from './stage.ts';

const MAX_BYTES = 200_000;
/** Without the UI's menus, so that the text is large enough where the picture is shown smaller. */
const CLIP = { x: 256, y: 48, width: 1184, height: 1002 };
/** The UI that people run in production. */
const PICTURED: UiName = 'of docker-compose.yml';

export async function picture({ page }: Ui, name: UiName, file: string): Promise<void> {
  if (name !== PICTURED || !process.argv.includes('--update')) return;
  // The key that refreshes a page also makes the browser frame what has the focus.
  await page.evaluate('document.activeElement?.blur()');
  const texts = await Promise.all(page.frames().map((it) => it.locator('body').innerText()));
  const host = new RegExp(`\\b${hostname().replaceAll('.', '\\.')}\\b`);
  assert.doesNotMatch(texts.join('\n'), host, 'a picture names no machine');
  const png = await page.screenshot({ animations: 'disabled', clip: CLIP });
  assert.ok(png.length <= MAX_BYTES, `${file} has ${png.length} bytes`);
  await writeFile(inRepository(`docs/images/${file}.png`), png);
}
