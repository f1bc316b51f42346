/** Fills in what CI knows of a job as notes. */
import { withFittingMeta } from '../fit-meta.ts';
import { notes } from './run-input.ts';

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
