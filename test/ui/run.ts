/**
 * `npm run test:all -- ui`: reads the pages of runs and rollouts in the real Temporal UI with headless Chromium.
 * After `npm run build`, `npx tsx test/ui/run.ts --update` also writes the pictures of the documents. Exits 75 if
 * Chromium or Go is missing.
 */
import { readdirSync } from 'node:fs';
import { after } from 'node:test';
import { endAll } from '../support/at-end.ts';
import { EXIT_MISSING, MissingProgram } from '../support/missing-program.ts';
import { requireChromium } from './browser.ts';
import { uiProgram } from './shipped-ui.ts';

try {
  requireChromium();
  await uiProgram();
} catch (error) {
  if (!(error instanceof MissingProgram)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exit(EXIT_MISSING);
}

after(endAll);
// Ends what it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void endAll().finally(() => process.exit(1)));
}
const folder = new URL('.', import.meta.url);
for (const name of readdirSync(folder)) {
  if (name.endsWith('.test.ts')) await import(new URL(name, folder).href);
}
