/** What a request to start a run asks for, and what is wrong with it. Pure. */
import type { RunType } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import { validateId } from '../validate-id.ts';
import { validateRunInput } from './run-input.ts';

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
