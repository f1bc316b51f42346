/** One sentence that says what freezes something, until when and why. Pure. */
import type { FrozenBy } from '../freeze.ts';
import { plainText } from './safe-text.ts';

const MAX_SHOWN = 3;

/** `frozen by "christmas" until 2027-01-04 06:00 (Europe/Berlin) because "the shop's season"` */
export function frozenText(by: readonly FrozenBy[]): string {
  const shown = by.slice(0, MAX_SHOWN).map(({ name, by: who, untilText, reason }) => {
    const setBy = who === undefined ? '' : ` (set by ${plainText(who)})`;
    return `by "${name}"${setBy} until ${untilText} because "${plainText(reason)}"`;
  });
  const more = by.length > MAX_SHOWN ? [`by ${by.length - MAX_SHOWN} more`] : [];
  return `frozen ${[...shown, ...more].join(', and ')}`;
}
