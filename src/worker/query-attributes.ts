/** Which search attributes a namespace has, for credentials that may search but not list them. */
import type { ConnectionLike } from '@temporalio/client';
import { codeOf, GRPC, grpcCause } from '../client/transport/grpc-errors.ts';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import { TYPE_WORDS } from './create-command.ts';
import type { AttributeName } from './search-attributes.ts';

/** @throws Error if one of them exists with another type, as far as the namespace shows, or if Temporal cannot be asked */
export async function attributesMissingInQueries(
  connection: ConnectionLike,
  namespace: string,
  names: readonly AttributeName[],
): Promise<AttributeName[]> {
  const isKnown = async (query: string): Promise<boolean> => {
    try {
      await connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1, query });
      return true;
    } catch (error) {
      if (codeOf(grpcCause(error)) === GRPC.invalidArgument) return false;
      throw error;
    }
  };
  const queryFor = (name: AttributeName) => `${name} = 'x'`;
  if (await isKnown(names.map(queryFor).join(' AND '))) {
    await refuseMistyped(connection, namespace, names);
    return [];
  }
  const missing: AttributeName[] = [];
  for (const name of names) if (!(await isKnown(queryFor(name)))) missing.push(name);
  return missing;
}

/** Databases have fields for each type, and the namespace a name for each field in use. */
async function refuseMistyped(
  connection: ConnectionLike,
  namespace: string,
  names: readonly AttributeName[],
): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  for (const [field, name] of Object.entries(config?.customSearchAttributeAliases ?? {})) {
    const known = names.find((it) => it === name);
    if (known === undefined || field.replace(/\d+$/, '') === TYPE_WORDS[SEARCH_ATTRIBUTES[known]]) continue;
    throw new Error(`the namespace has ${name} with another type`);
  }
}
