/** Checks a request to start a run, and derives its type. Pure. */
import { RUN_TYPES, type RunType } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { problemOfId } from '../problems.ts';
import { problemOfUnset, validateRunInput, notes } from './run-input.ts';
import { withFittingMeta } from '../limits.ts';

/** Derives the type of a run without one. It accepts any input, because validation follows. */
export function typeOf(input: Partial<RunInput> | null | undefined): RunType {
  if (input?.serverId === undefined) return 'deployOnly';
  const { siteIds, targets = siteIds } = input;
  return targets === undefined || targets.length === 0 ? 'backupOnly' : 'backupThenDeploy';
}

/** @param type undefined to derive it @returns the first problem, or null */
export function startProblem(type: RunType | undefined, input: RunInput, key: string | undefined): string | null {
  const problem = key === undefined ? null : problemOfId(key);
  if (problem !== null) return `key: ${problem}`;
  if (type !== undefined && !RUN_TYPES.includes(type)) return `type: must be one of ${RUN_TYPES.join(', ')}`;
  const unset = type === undefined && isRecord(input) ? problemOfUnset(input) : null;
  return unset ?? validateRunInput(type ?? typeOf(input), input);
}

/* Adds what CI knows about a job as notes. */

/**
 * Returns the given notes, and the facts that fit beside them. A fact replaces only an empty note. It is left out if it does
 * not fit whole.
 */
export function withFacts(
  given: Record<string, string> | undefined,
  facts: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  let { meta } = withFittingMeta({ meta: given ?? {} });
  for (const [name, value] of Object.entries(facts)) {
    const more = { ...meta, [name]: value };
    if ((meta[name] ?? '') === '' && notes.safeParse(more).success) meta = more;
  }
  return given === undefined && Object.keys(meta).length === 0 ? undefined : meta;
}
