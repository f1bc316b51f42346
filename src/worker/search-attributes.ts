/** Finds out whether Belay's search attributes can be used in a namespace, and registers them if that is allowed. */
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { GRPC, codeOf, grpcCause, isDenied } from '../client/transport/grpc-errors.ts';
import type { SearchAttributeMode } from '../config/environment/environment.ts';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import { messageOf, shellWord } from '../contract/safe-text.ts';
import { isTemporalCloud } from '../config/credentials.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const TYPES = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

type AttributeName = keyof typeof SEARCH_ATTRIBUTES;

/** What a namespace has of them. */
export interface FoundAttributes {
  missing: AttributeName[];
  /** Whether these credentials may list them. Else a search shows which there are. */
  mayList: boolean;
}

/** Why they are not used. */
export interface AttributeProblem {
  message: string;
  remedy: string | null;
}

/**
 * Without all of them none are used: an unknown one would fail the workflow task.
 * @returns null if all are there now
 */
export async function registerSearchAttributes(
  connection: ConnectionLike,
  place: AttributePlace,
): Promise<AttributeProblem | null> {
  const { namespace } = place;
  try {
    const { missing, mayList } = await findAttributes(connection, namespace);
    if (missing.length === 0) return null;
    const remedy = `run \`${createCommand(missing, place)}\`, then restart the workers`;
    if (!mayList) return { message: `the namespace lacks ${missing.join(', ')}, and ${MAY_NOT}`, remedy };
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, TYPES[SEARCH_ATTRIBUTES[name]]]));
    // Another worker may register them at the same time, so only the list afterwards counts.
    const problem = await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes })
      .then(() => null, messageOf);
    const left = (await findAttributes(connection, namespace)).missing;
    if (left.length === 0) return null;
    return { message: `${left.join(', ')} cannot be registered: ${problem ?? 'Temporal does not list them'}`, remedy };
  } catch (error) {
    return { message: messageOf(error), remedy: null };
  }
}

const MAY_NOT = 'these credentials may not register them';

/** @throws Error if one of them exists with another type, or if Temporal cannot be asked */
export async function findAttributes(connection: ConnectionLike, namespace: string): Promise<FoundAttributes> {
  const names = Object.keys(SEARCH_ATTRIBUTES) as AttributeName[];
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const isMistyped = (name: AttributeName) =>
      name in customAttributes && customAttributes[name] !== TYPES[SEARCH_ATTRIBUTES[name]];
    const mistyped = names.find(isMistyped);
    if (mistyped !== undefined) throw new Error(`the namespace has ${mistyped} with another type`);
    return { missing: names.filter((name) => !(name in customAttributes)), mayList: true };
  } catch (error) {
    if (!isRefused(error)) throw error;
    return { missing: await attributesMissingInQueries(connection, namespace, names), mayList: false };
  }
}

/** Temporal Cloud serves such calls to no one. */
export const isRefused = (error: unknown): boolean =>
  isDenied(error) || codeOf(grpcCause(error)) === GRPC.unimplemented;

/** What a worker does about them when it starts. @returns whether it uses them, and why not, if it could */
export async function prepareAttributes(
  mode: SearchAttributeMode,
  connection: ConnectionLike,
  place: AttributePlace,
): Promise<{ use: boolean; problem: AttributeProblem | null }> {
  if (mode !== 'register') return { use: mode === 'assume', problem: null };
  const problem = await registerSearchAttributes(connection, place);
  return { use: problem === null, problem };
}

/* Which search attributes a namespace has, for credentials that may search but not list them. */

/** @throws Error if one of them exists with another type, as far as the namespace shows, or if Temporal cannot be asked */
async function attributesMissingInQueries(
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

/** As Temporal calls them: in commands, and as fields of its database, where two digits follow. */
const TYPE_WORDS = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

interface AttributePlace {
  namespace: string;
  /** Of Temporal. */
  address: string;
}

/** The command that creates search attributes, for a person who may. */
export function createCommand(names: readonly AttributeName[], { namespace, address }: AttributePlace): string {
  const types = names.map((name) => [name, TYPE_WORDS[SEARCH_ATTRIBUTES[name]]] as const);
  const where = shellWord(namespace);
  if (isTemporalCloud(address)) {
    const all = types.map(([name, type]) => `--sa ${name}=${type}`);
    return ['tcld namespace search-attributes add', `--namespace ${where}`, ...all].join(' ');
  }
  const all = types.map(([name, type]) => `--name ${name} --type ${type}`);
  return ['temporal operator search-attribute create', `--namespace ${where}`, ...all].join(' ');
}
