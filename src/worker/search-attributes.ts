/** Registers Belay's search attributes in the namespace, if that is allowed. */
import proto from '@temporalio/proto';
import type { ConnectionLike } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const TYPES = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

/** @returns null if all can be used, else the reason. Then none are used: an unknown one would fail the workflow task. */
export async function registerSearchAttributes(connection: ConnectionLike, namespace: string): Promise<string | null> {
  try {
    const missing = await missingAttributes(connection, namespace);
    if (missing.length === 0) return null;
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, TYPES[SEARCH_ATTRIBUTES[name]]]));
    // Another worker may register them at the same time, so only the list afterwards counts.
    const problem = await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes })
      .then(() => null, reasonOf);
    const left = await missingAttributes(connection, namespace);
    return left.length === 0 ? null : (problem ?? `${left.join(', ')} cannot be registered`);
  } catch (error) {
    return reasonOf(error);
  }
}

type Name = keyof typeof SEARCH_ATTRIBUTES;

/** @returns the ones the namespace lacks. @throws Error if one of them exists with another type */
export async function missingAttributes(connection: ConnectionLike, namespace: string): Promise<Name[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const names = Object.keys(SEARCH_ATTRIBUTES) as Name[];
  const mistyped = names.find(
    (name) => name in customAttributes && customAttributes[name] !== TYPES[SEARCH_ATTRIBUTES[name]],
  );
  if (mistyped !== undefined) throw new Error(`the namespace has ${mistyped} with another type`);
  return names.filter((name) => !(name in customAttributes));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
