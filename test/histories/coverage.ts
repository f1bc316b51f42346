/**
 * `npx c8 --config test/sim/coverage.json node --import ./tools/typescript.js test/histories/coverage.ts` replays the
 * kept histories from the source, and lists the lines of workflows that none of them reaches. Only what a kept history
 * reaches is kept from an incompatible change.
 */
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { NO_REPORTS } from '../support/no-reports.ts';
import { readHistories } from './kept.ts';

/** Without threads of its own, V8 counts what workflows execute. */
const IN_THIS_THREAD = { debugMode: true };

Runtime.install({ logger: new DefaultLogger('WARN') });
const workflowBundle = { codePath: await bundleFromSource() };
const options = { ...NO_REPORTS, ...IN_THIS_THREAD, workflowBundle };
for await (const { error } of Worker.runReplayHistories(options, readHistories())) if (error !== undefined) throw error;
