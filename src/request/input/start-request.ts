/** What a request to start a run asks for, and what is wrong with it. Pure. */
import type { RunType } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import { validateId } from '../validate-id.ts';
import { validateRunInput, notes } from './run-input.ts';
import { withFittingMeta } from '../limits.ts';

/** The type of a run that is not named. Accepts any input, because validation follows. */
export function typeOf(input: Partial<RunInput> | null | undefined): RunType {
  if (input?.serverId === undefined) return 'deployOnly';
  const { siteIds, targets = siteIds } = input;
  return targets === undefined || targets.length === 0 ? 'backupOnly' : 'backupThenDeploy';
}

/** @returns the first problem, or null */
export function startProblem(type: RunType, input: RunInput, key: string | undefined): string | null {
  const problem = key === undefined ? null : validateId(key);
  return problem === null ? validateRunInput(type, input) : `key: ${problem}`;
}

/* Fills in what CI knows of a job as notes. */

/** The notes that were given, and the facts that fit beside them: none replaces a note, is cut, or breaks a limit. */
export function withFacts(
  given: Record<string, string> | undefined,
  facts: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  let { meta } = withFittingMeta({ meta: given ?? {} });
  for (const [name, value] of Object.entries(facts)) {
    const more = { ...meta, [name]: value };
    if (!Object.hasOwn(meta, name) && notes.safeParse(more).success) meta = more;
  }
  return given === undefined && Object.keys(meta).length === 0 ? undefined : meta;
}
