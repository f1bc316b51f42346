/** Finds out whether Belay's search attributes can be used in a namespace, and registers them if that is allowed. */
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { GRPC, codeOf, grpcCause, isDenied, isLimited, isUnreachable } from '../client/transport/grpc-errors.ts';
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

export interface FoundAttributes {
  missing: AttributeName[];
  /** True if the credentials may list search attributes. Otherwise, searches show which exist. */
  mayList: boolean;
}

export interface AttributeProblem {
  message: string;
  remedy: string | null;
}

/**
 * Uses none of the attributes unless all exist, because an unknown attribute would fail the workflow task.
 *
 * @returns null if all of them exist now
 * @throws Error if Temporal does not answer now, so that nobody knows
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
      .then(() => null, unlessTemporary);
    const left = (await findAttributes(connection, namespace)).missing;
    if (left.length === 0) return null;
    return { message: `${left.join(', ')} cannot be registered: ${problem ?? 'Temporal does not list them'}`, remedy };
  } catch (error) {
    return { message: unlessTemporary(error), remedy: null };
  }
}

function unlessTemporary(error: unknown): string {
  const isUnknown = codeOf(grpcCause(error)) === GRPC.unimplemented;
  if (isLimited(error) || (isUnreachable(error) && !isUnknown)) throw error;
  return messageOf(error);
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
    if (!isWithheld(error)) throw error;
    return { missing: await attributesMissingInQueries(connection, namespace, names), mayList: false };
  }
}

/** Temporal Cloud serves no operator's calls. */
export const isWithheld = (error: unknown): boolean =>
  isDenied(error) || codeOf(grpcCause(error)) === GRPC.unimplemented;

/**
 * Prepares the search attributes when a worker starts. @returns whether the worker uses them, and the problem if it
 * could but does not; or why nobody knows now
 */
export async function prepareAttributes(
  mode: SearchAttributeMode,
  connection: ConnectionLike,
  place: AttributePlace,
): Promise<{ ready: { use: boolean; problem: AttributeProblem | null } } | { problem: string }> {
  if (mode !== 'register') return { ready: { use: mode === 'assume', problem: null } };
  try {
    const problem = await registerSearchAttributes(connection, place);
    return { ready: { use: problem === null, problem } };
  } catch (error) {
    // A worker decides once. If it started without them, searches would miss its runs until its next start.
    return { problem: `Temporal does not tell which search attributes exist: ${messageOf(error)}` };
  }
}

/* Finds out which search attributes a namespace has, for credentials that may search but not list them. */

/**
 * @throws Error if one of them exists with another type, as far as the namespace shows, or if Temporal cannot be asked
 */
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

/** Databases have fields for each type, and the namespace has a name for each field in use. */
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

/** Temporal uses these names in commands, and for fields of its database, where two digits follow. */
const TYPE_WORDS = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

interface AttributePlace {
  namespace: string;
  address: string;
}

/** Returns the command that creates search attributes, for a person who is allowed to. */
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
