/** A belay.yaml of a test file, written and read again for each text. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfiguration } from '../../src/config/load.ts';

export async function readText(folder: string, text: string) {
  const path = join(folder, 'belay.yaml');
  await writeFile(path, text);
  return readConfiguration({ path, isNamed: true });
}
