/** The `why` query, which every run, operation and rollout answers. */
import { defineQuery, setHandler } from '@temporalio/workflow';
import { QUERIES } from '../contract/names.ts';
import type { Explanation } from '../contract/waiting.ts';

const whyQuery = defineQuery<Explanation>(QUERIES.why);

export function answerWhyQuery(answer: () => Explanation): void {
  setHandler(whyQuery, answer, { description: 'Why the workflow is waiting, as a sentence and as data.' });
}
