/** What is deployed, as text. Pure. */
import type { Target } from './target.ts';

/** `site a1`, `app b1`: for sentences. @param shown formats the id for display */
export const targetText = ({ kind, id }: Target, shown: (id: string) => string = String): string =>
  `${kind} ${shown(id)}`;

/** `a1`, `app b1`: for labels, which give a site by its id alone. @param shown formats the id for display */
export const targetLabel = ({ kind, id }: Target, shown: (id: string) => string = String): string =>
  kind === 'app' ? targetText({ kind, id }, shown) : shown(id);
