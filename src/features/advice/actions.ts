/** What `belay advice` does: it looks back at closed backups and deployments. */
import { SCHEMA_VERSION } from '../../contract/names.ts';
import type { Target } from '../../contract/target.ts';
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';
import type { Subject } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { adviceLines } from './advice-text.ts';

export interface AdviceOptions {
  server?: string[];
  targets?: Target[];
  json?: boolean;
}

export async function advice({ server: servers = [], targets = [], json }: AdviceOptions): Promise<void> {
  const of: Subject[] = [...servers.map((serverId) => ({ serverId })), ...targets.map((target) => ({ target }))];
  const operations = await withBelay((belay) => belay.advise(of.length === 0 ? {} : { of }));
  if (json === true) return printJson({ schemaVersion: SCHEMA_VERSION, operations, error: null });
  if (operations.length === 0) return print('no backups or deployments in the last 30 days');
  print(adviceLines(operations));
}
