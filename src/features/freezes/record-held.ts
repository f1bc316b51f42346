/** The story of what a run or rollout waited for, in its result. */
import type { FrozenBy, Held } from './shapes.ts';

/** Keeps in a result what is waited for. @returns what to call with everything that holds now */
export function recordHeld(result: { held: Held[] }): (by: readonly FrozenBy[], end?: Held['end']) => void {
  const open = new Map<string, Held>();
  return (by, end = 'passed') => {
    const now = new Date().toISOString();
    for (const [name, held] of open) {
      if (by.some((it) => it.name === name)) continue;
      Object.assign(held, { to: now, end });
      open.delete(name);
    }
    for (const { kind, name, by: who = null, reason } of by) {
      if (open.has(name)) continue;
      const held: Held = { for: kind, name, from: now, to: null, end: null, by: who, why: reason };
      open.set(name, held);
      result.held.push(held);
    }
  };
}
