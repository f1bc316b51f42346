/**
 * Moves the message and the stack of a failure into a payload, which the codec then encrypts. The SDK requires this
 * file by its path, without a compiler: no types here.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
