/** The sandboxes that all tests of a process share: each reads the whole bundle. */
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import { atEnd } from '../../support/at-end.ts';
import { openSandboxes, type Sandboxes } from '../core/sdk.ts';

let opened: Promise<Sandboxes> | undefined;
atEnd(async () => (await opened)?.close());

export const sharedSandboxes = (): Promise<Sandboxes> => (opened ??= bundleFromSource().then(openSandboxes));
