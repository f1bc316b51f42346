/** One sentence that says what freezes something, until when and why. Pure. */
import type { FrozenBy } from '../freeze.ts';
import { plainText } from './safe-text.ts';

const MAX_SHOWN = 3;

type Quote = (text: string) => string;
const quoted: Quote = (text) => `"${plainText(text)}"`;

/** `frozen by "christmas" until 2027-01-04 06:00 (Europe/Berlin) because "the shop's season"` */
export function frozenText(by: readonly FrozenBy[], quote = quoted): string {
  const shown = by.slice(0, MAX_SHOWN).map(({ name, by: who, untilText, reason }) => {
    const setBy = who === undefined ? '' : ` (set by ${quote(who)})`;
    return `by ${quote(name)}${setBy} until ${untilText} because ${quote(reason)}`;
  });
  const more = by.length > MAX_SHOWN ? [`by ${by.length - MAX_SHOWN} more`] : [];
  return `frozen ${[...shown, ...more].join(', and ')}`;
}
