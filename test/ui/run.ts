/**
 * `npm run test:all -- ui`: reads the pages of runs and rollouts in the real Temporal UI with headless Chromium.
 * After `npm run build`, `npx tsx test/ui/run.ts --update` also writes the pictures of the documents. Exits 75 if
 * Chromium or Go is missing.
 */
import { readdirSync } from 'node:fs';
import { after } from 'node:test';
import { endAll, endOnSignals } from '../support/at-end.ts';
import { leftOut } from '../support/missing-program.ts';
import { requireChromium } from './browser.ts';
import { uiProgram } from './shipped-ui.ts';

try {
  requireChromium();
  await uiProgram();
} catch (error) {
  process.exit(leftOut(error));
}

after(endAll);
endOnSignals();
const folder = new URL('.', import.meta.url);
for (const name of readdirSync(folder)) {
  if (name.endsWith('.test.ts')) await import(new URL(name, folder).href);
}
