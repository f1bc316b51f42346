/** What the pages of all workflows in the Temporal UI share. Text from outside is put in code spans. */
import { workflowInfo, defineQuery, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { workflowLink } from '../contract/markdown.ts';
import { codeSpan, commandSpan, plainText } from '../contract/safe-text.ts';
import { counted } from '../contract/results.ts';
import { type Outcome, QUERIES } from '../contract/names.ts';
import type { RunResult } from '../contract/run.ts';
import type { Waiting, Explanation } from '../contract/waiting.ts';
import type { Style } from '../contract/explain-wait.ts';
import { attributePairs, type Attributes } from '../request/search-attributes.ts';

export const MARKDOWN: Style = {
  quote: (text) => codeSpan(text),
  workflow: (workflowId) => workflowLink(workflowId),
  command: commandSpan,
  when: (at) => `at ${at}`,
};

export const NOTHING = '–';
export const NO_BREAK = '\u00a0';

export const orNothing = (text: string | null, show: (text: string) => string = String): string =>
  text === null ? NOTHING : show(text);

/** A defect has no outcome. */
export const endedHeading = ({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>): string =>
  `**${outcome ?? 'no outcome'}**${error === null ? '' : ` (${error.type})`}`;

/**
 * What to do before a run or rollout is started again. Empty if nothing of it can still be in progress.
 *
 * @param parts what it consists of. One that failed does not show that the others have ended
 */
export function checkServiceFirst(outcome: Outcome | null, parts: readonly { outcome: Outcome | null }[]): string {
  const begun = parts.map((part) => part.outcome).filter((it) => it !== null);
  return [outcome, ...begun].every((it) => it === 'completed' || it === 'failed' || it === 'not_started')
    ? ''
    : 'Check the service first: what was requested may still be in progress, or have ended. ';
}

/** Shortens a text for a cell of a table. */
export const shortText = (text: string): string => codeSpan(plainText(text, 120));

/** The next try of a part that waits for one, or else how often its status was read. */
export function readsText(polls: number, waiting: Waiting | null): string {
  if (waiting !== null && 'try' in waiting && waiting.kind !== 'check') {
    const from = waiting.pooled === undefined ? [] : ['from'];
    return [...from, 'try', waiting.try, 'of', waiting.tries].join(NO_BREAK);
  }
  return polls === 0 ? NOTHING : counted(polls, 'poll').replace(' ', NO_BREAK);
}

/** Links to this execution, for the pages of the workflows that it starts. */
export function linkToThis(): string {
  const { workflowId, runId } = workflowInfo();
  return workflowLink(workflowId, { runId });
}

/* The `why` query, which every run, operation and rollout answers. */

const whyQuery = defineQuery<Explanation>(QUERIES.why);

export function answerWhyQuery(answer: () => Explanation): void {
  setHandler(whyQuery, answer, { description: 'Why the workflow is waiting, as a sentence and as data.' });
}

/* Sets search attributes, if the worker reports that the namespace has them. */

/** Sets only attributes whose values differ, because each change is an event and a billed action. */
export function setAttributes(enabled: boolean, attributes: Attributes): void {
  if (!enabled) return;
  const { typedSearchAttributes: before } = workflowInfo();
  const changed = attributePairs(attributes).filter(
    ({ key, value }) => JSON.stringify(before.get<typeof key.type>(key)) !== JSON.stringify(value),
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** What a child has from its start on, which costs neither an event nor an action. */
export const startAttributes = (enabled: boolean, attributes: Attributes) =>
  enabled ? { typedSearchAttributes: attributePairs(attributes) } : {};
