/** Whether a replay makes the commands that history has. */
import { isDeepStrictEqual } from 'node:util';
import type { Commanded } from './events.ts';

/** Replay made other commands than history has. */
export class Nondeterminism extends Error {}

/** @param task names it in the error. @throws Nondeterminism */
export function compare(task: string, made: readonly Commanded[], recorded: readonly Commanded[]): void {
  const problem = made.findIndex((it, index) => !isSame(it, recorded[index]));
  if (problem === -1 && made.length === recorded.length) return;
  const index = problem === -1 ? made.length : problem;
  const [was, is] = [textOf(recorded[index]), textOf(made[index])];
  const from = Math.max(0, firstDifference(was, is) - 150);
  const where = `${task}, command ${index}, from character ${from}`;
  throw new Nondeterminism(
    `${where}: history has ${was.slice(from, from + 300)}, replay made ${is.slice(from, from + 300)}`,
  );
}

function firstDifference(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}

const textOf = (command: Commanded | undefined): string =>
  command === undefined ? 'nothing' : JSON.stringify(plain(command, 'utf8'));

const isSame = (made: Commanded, recorded: Commanded | undefined) =>
  recorded !== undefined && isDeepStrictEqual(comparable(made, recorded), comparable(recorded, recorded));

/** Without options if history does not have those of the command. */
function comparable(command: Commanded, recorded: Commanded): unknown {
  const hasOptions = recorded.kind !== 'activityScheduled' || recorded.options !== null;
  return plain(command.kind === 'activityScheduled' && !hasOptions ? { ...command, options: null } : command);
}

/** The same for objects of any origin: bytes as text, and nothing that is not set. */
function plain(value: unknown, bytes: 'base64' | 'utf8' = 'base64'): unknown {
  // An object of the sandbox has classes of its own.
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(bytes);
  if (Array.isArray(value)) return Array.from(value, (it) => plain(it, bytes));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, it]) => (isUnset(it) ? [] : [[name, plain(it, bytes)]])),
  );
}

const isUnset = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
