/** Checks what a command names against the belay.yaml of this machine. Workers check requests against their own as well. */
import { createInventoryCheck } from '../config/inventory.ts';
import { locateKey, type Configuration } from '../config/load.ts';
import { BelayError } from '../contract/errors.ts';
import type { RunParts } from '../contract/target.ts';

/** @throws BelayError of type `Usage` with the place in the file */
export async function refuseInventoryConflict(configuration: Configuration, asked: RunParts): Promise<void> {
  const found = createInventoryCheck(configuration)(asked);
  if (found === null) return;
  throw new BelayError('Usage', `${await locateKey(found.path)}: ${found.path.join('.')}: ${found.message}`);
}
