/** Repeats a query that came at the wrong time for its worker (workflows/untimely-queries.ts). */
import { QueryNotRegisteredError, type WorkflowClientInterceptor } from '@temporalio/client';
import { UNTIMELY_QUERY } from '../contract/names.ts';

/** What a worker that encrypts lets Temporal see of an error. */
const ENCODED = 'Encoded failure';
/** After the first untimely query, the worker has dropped the execution from its cache, so a second one is rare. */
const TRIES = 5;

const query: WorkflowClientInterceptor['query'] = async (input, next) => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await next(input);
    } catch (error) {
      // Temporal has one error for all queries that a worker fails.
      const message = error instanceof QueryNotRegisteredError ? error.message : '';
      const mayBeUntimely = [UNTIMELY_QUERY, ENCODED].some((it) => message.includes(it));
      if (!mayBeUntimely || tries === TRIES) throw error;
    }
  }
};

export const ASKS_AGAIN = { workflow: [{ query }] };
