/** What `belay check` does: it reads a site and its status once, from here, and starts nothing. */
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';

export interface CheckOptions {
  site: string;
  commit?: string;
  json?: boolean;
}

export async function check({ site, commit, json }: CheckOptions): Promise<void> {
  const { tryCheck, triedDocument, triedText } = await import('./try-check.ts');
  const tried = await tryCheck(site, commit ?? null);
  if (json === true) printJson(triedDocument(tried));
  else print(triedText(tried));
  process.exitCode = tried.exitCode;
}
