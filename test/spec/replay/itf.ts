/** Traces of Quint, in the format ITF, as plain values. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Step<S> {
  /** The action that led to this state. */
  action: string;
  state: S;
}

/** A variant without a value is its name. */
type Value = number | boolean | string | Value[] | Set<Value> | Map<Value, Value> | { [field: string]: Value };

interface Itf {
  states: Record<string, unknown>[];
}

/** @returns the traces of a folder, in the order of their names */
export function readTraces<S>(folder: string): Step<S>[][] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.itf.json'));
  return files.sort().map((name) => stepsOf<S>(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Itf));
}

const stepsOf = <S>({ states }: Itf): Step<S>[] =>
  states.map((raw) => {
    const variables = Object.entries(raw).filter(([name]) => !name.startsWith('mbt::') && name !== '#meta');
    const state = Object.fromEntries(variables.map(([name, value]) => [name.split('::').at(-1)!, valueOf(value)]));
    return { action: raw['mbt::actionTaken'] as string, state: state as S };
  });

function valueOf(raw: unknown): Value {
  if (Array.isArray(raw)) return raw.map(valueOf);
  if (typeof raw !== 'object' || raw === null) return raw as Value;
  const it = raw as Record<string, unknown>;
  if ('#bigint' in it) return Number(it['#bigint']);
  if ('#set' in it) return new Set((it['#set'] as unknown[]).map(valueOf));
  if ('#tup' in it) return (it['#tup'] as unknown[]).map(valueOf);
  if ('#map' in it)
    return new Map((it['#map'] as [unknown, unknown][]).map(([key, value]) => [valueOf(key), valueOf(value)]));
  if ('tag' in it) return it.tag as string;
  return Object.fromEntries(Object.entries(it).map(([name, value]) => [name, valueOf(value)]));
}
