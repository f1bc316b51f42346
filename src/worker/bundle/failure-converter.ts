/**
 * How failures leave workflow code. One bundle serves workers with encryption and without: the text of the bundle sets
 * this variable before any module is loaded, see workflow-source.ts.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const ENCODES_FAILURES = 'belayEncodesFailures';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: ENCODES_FAILURES in globalThis });
