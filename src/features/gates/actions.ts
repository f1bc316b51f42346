/** What `belay gates try` does: it measures once, from here, and starts nothing. */
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';

export interface TryOptions {
  rollout?: string;
  wave?: string;
  json?: boolean;
}

export async function tryOnce(name: string, { json, ...asked }: TryOptions): Promise<void> {
  const { tryGate, triedGateDocument, triedGateText } = await import('./try-gate.ts');
  const tried = await tryGate(name, asked);
  if (json === true) printJson(triedGateDocument(tried));
  else print(triedGateText(tried));
  process.exitCode = tried.exitCode;
}
