/** The one query that every run, operation and rollout answers in a sentence and as data. */
import { defineQuery, setHandler } from '@temporalio/workflow';
import { QUERIES } from '../../contract/run.ts';
import type { Why } from '../../contract/rollout.ts';

const whyQuery = defineQuery<Why>(QUERIES.why);

export function answerWhy(answer: () => Why): void {
  setHandler(whyQuery, answer, { description: 'Why it is waiting, in a sentence and as data.' });
}
