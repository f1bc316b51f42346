/** `--dry-run`: shows what a run or rollout would do and what would keep it from that, and starts nothing. */
import { readConfiguration } from '../config/load.ts';
import { SCHEMA_VERSION } from '../contract/names.ts';
import { definedFields } from '../contract/plain-object.ts';
import { policyOf } from '../config/policy.ts';
import { BelayError } from '../contract/errors.ts';
import { printJson } from '../process/json-document.ts';
import { print } from '../process/print.ts';
import { EXIT } from '../contract/exit-codes.ts';
import { withBelay } from './open-belay.ts';
import { approvalsPart } from '../features/approvals/dry-run.ts';
import { checksPart } from '../features/site-checks/dry-run.ts';
import { etaPart } from '../features/advice/dry-run.ts';
import { freezesPart } from '../features/freezes/dry-run.ts';
import { locksPart } from './locks-part.ts';
import type { Part, Planned } from './planned.ts';
import { planPart } from './plan-part.ts';
import { servicePart } from './service-part.ts';

export { plannedRollout, plannedRun } from './planned.ts';

/** In the order in which they are shown. Each answers one question about the plan. */
const PARTS: readonly Part[] = [planPart, servicePart, freezesPart, approvalsPart, locksPart, checksPart, etaPart];

export async function dryRun(
  planned: Planned,
  { json: asJson, service }: { json?: boolean; service?: string },
): Promise<number> {
  if (planned.problem !== null) throw new BelayError('Usage', planned.problem);
  const policy = policyOf(await readConfiguration());
  const shown = await withBelay(
    (belay) => Promise.all(PARTS.map((part) => part.look(planned, { belay, policy, named: service }))),
    definedFields({ service }),
  );
  if (asJson === true) {
    const values = Object.fromEntries(PARTS.map(({ name }, index) => [name, shown[index]?.value]));
    printJson({ schemaVersion: SCHEMA_VERSION, started: false, ...values, error: null });
  } else {
    print([...shown.flatMap(({ lines }) => lines), 'dry run: nothing was started']);
  }
  return EXIT.completed;
}
