/** Of the client of the service, as the worker and those who check it use it. */
import { TIMING } from '../contract/timing.ts';

export const HTTP_TIMEOUTS = { readTimeoutMs: TIMING.read.probeMs, triggerTimeoutMs: TIMING.post.answerMs };
