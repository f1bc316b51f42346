/** Checks that the namespace has Belay's search attributes, if they are to be used. */
import { searchAttributeMode } from '../../config/environment/search-attribute-mode.ts';
import type { TemporalEndpoint } from '../../config/find-temporal.ts';
import { createCommand } from '../../worker/create-command.ts';
import { findAttributes, registerSearchAttributes } from '../../worker/search-attributes.ts';
import type { Finding, NamespaceConnection } from '../../cli/doctor-check.ts';

const WITHOUT = '`belay list` cannot filter, `belay approvals` cannot list, and the Temporal UI cannot search';

export async function checkAttributes(
  { connection, namespace }: NamespaceConnection,
  { connectionOptions: { address } }: TemporalEndpoint,
): Promise<Finding> {
  const mode = searchAttributeMode();
  if (mode === 'off') return { state: 'ok', message: `off (BELAY_SEARCH_ATTRIBUTES); ${WITHOUT}` };
  const place = { namespace, address };
  const { missing, mayList } = await findAttributes(connection, namespace);
  if (missing.length === 0) return { state: 'ok', message: mayList ? 'all registered' : 'all there, by a search' };
  const command = `run \`${createCommand(missing, place)}\``;
  if (mode === 'assume') {
    const message = `BELAY_SEARCH_ATTRIBUTES=assume, but the namespace lacks ${missing.join(', ')}: runs would stand still`;
    return { state: 'failed', message, remedy: `${command}, or set it to register` };
  }
  const message = `not registered: ${missing.join(', ')}; ${WITHOUT}`;
  if (!mayList) {
    return { state: 'warning', message, remedy: `${command}, then restart the workers` };
  }
  return {
    state: 'warning',
    message,
    remedy: 'start a worker whose credentials may register them',
    async fix() {
      const problem = await registerSearchAttributes(connection, place);
      if (problem === null) return 'registered';
      throw new Error([problem.message, problem.remedy].filter((it) => it !== null).join(': '));
    },
  };
}
