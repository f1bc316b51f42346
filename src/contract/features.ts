/** How features say what a workflow waits for. */
import type { Style } from './explain-wait.ts';
import type { RolloutWaiting, Waiting, WaitingForRead, WaitingToSend } from './waiting.ts';
import { approvalSentence } from '../features/approvals/text.ts';
import { freezeSentence, waitingForThawText } from '../features/freezes/text.ts';
import { gateSentence } from '../features/gates/text.ts';
import { checkSentence } from '../features/site-checks/text.ts';

/** What a run may wait for because of a feature. */
type FeatureWaiting = Exclude<Waiting, { kind: 'admission' | 'lock' } | WaitingForRead | WaitingToSend>;

type FeatureRolloutWaiting = Exclude<RolloutWaiting, { kind: 'decision' | 'servers' }>;

/** @param what the waiting operation; null leaves it out */
type Sentence<W> = (waiting: W, what: string | null, style: Style) => string;

/** By the kind of the wait. */
const SENTENCES: { readonly [K in FeatureWaiting['kind']]: Sentence<Extract<FeatureWaiting, { kind: K }>> } = {
  approval: (waiting) => approvalSentence(waiting),
  check: checkSentence,
  freeze: freezeSentence,
};

export const isOfFeature = (waiting: Waiting): waiting is FeatureWaiting => Object.hasOwn(SENTENCES, waiting.kind);

export const sentenceOf: Sentence<FeatureWaiting> = (waiting, what, style) =>
  (SENTENCES[waiting.kind] as Sentence<FeatureWaiting>)(waiting, what, style);

/** A worker may be newer than the program that shows what a run waits for. */
export const unknownWait = ({ kind }: { kind: unknown }, quote: Style['quote']): string =>
  `waiting for ${quote(String(kind))}, which this version of Belay does not know`;

/** The same for a rollout. */
export function rolloutSentenceOf(waiting: FeatureRolloutWaiting, quote: Style['quote']): string {
  switch (waiting.kind) {
    case 'approval':
      return approvalSentence(waiting);
    case 'freeze':
      return `paused, ${waitingForThawText(waiting, quote)}: resumes by itself`;
    case 'gate':
      return gateSentence(waiting, quote);
    default:
      return unknownWait(waiting, quote);
  }
}
