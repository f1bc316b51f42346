/**
 * Decides how failures leave workflow code. One bundle serves workers with and without encryption: workflow-source.ts
 * puts this variable into the text of the bundle, so that it is set before any module is loaded.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const ENCODES_FAILURES = 'belayEncodesFailures';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: ENCODES_FAILURES in globalThis });
