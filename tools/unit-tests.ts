/** `npm run test:unit`: every unit test in this one process, so that the whole set takes seconds. */
import { readdirSync } from 'node:fs';

const folder = new URL('../test/unit/', import.meta.url);
for (const name of readdirSync(folder)) {
  if (name.endsWith('.test.ts')) await import(new URL(name, folder).href);
}
