/** Checks whether the tries of past backups and deployments were too few. */
import type { OperationAdvice } from '../../rules/past/advice.ts';
import { createAdvise } from '../../client/past/advise.ts';
import { openSession } from '../../client/connection/session.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { targetText } from '../../contract/wording/target-text.ts';
import type { Check, Finding } from './check.ts';

const MOST_NAMED = 5;

export const triesCheck = (): Check => ({
  name: 'tries',
  run: async (): Promise<Finding> => {
    const found = await lookBack().catch((error: Error) => error.message);
    if (typeof found === 'string') return { state: 'skipped', message: found };
    const tight = found.filter(({ suggestedBudget }) => suggestedBudget !== null);
    if (tight.length > 0) {
      const named = tight.slice(0, MOST_NAMED).map((one) => `${subjectText(one)}: ${one.advice[0]}`);
      const more = tight.length > MOST_NAMED ? [`${tight.length - MOST_NAMED} more`] : [];
      const remedy = 'see `belay advice`; in belay.yaml, the keys are backup.tries and deploy.tries';
      return { state: 'warning', message: [...named, ...more].join('; '), remedy };
    }
    const judged = found.filter(({ budget }) => budget !== null).length;
    if (judged === 0)
      return { state: 'skipped', message: 'too few backups and deployments in the last 30 days to tell' };
    return { state: 'ok', message: `enough for ${judged} servers and targets of the last 30 days` };
  },
});

async function lookBack(): Promise<OperationAdvice[]> {
  const { session, close } = await openSession({});
  return createAdvise(session)().finally(close);
}

const subjectText = ({ serverId, target }: OperationAdvice): string =>
  target === null ? `server ${plainText(serverId ?? '')}` : targetText(target, plainText);
