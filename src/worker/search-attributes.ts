/** Finds out whether Belay's search attributes can be used in a namespace, and registers them if that is allowed. */
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { GRPC, codeOf, grpcCause, isDenied } from '../client/transport/grpc-errors.ts';
import type { SearchAttributeMode } from '../config/environment/search-attribute-mode.ts';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import { messageOf } from '../contract/message-of.ts';
import { createCommand, type AttributePlace } from './create-command.ts';
import { attributesMissingInQueries } from './query-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const TYPES = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

export type AttributeName = keyof typeof SEARCH_ATTRIBUTES;

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
