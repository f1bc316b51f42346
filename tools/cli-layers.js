/** Who may import whom on the command line: rows of the table in layers.js. */
import { CONTRACT } from './workflow-layers.js';

export const CLI_LAYERS = {
  // The command line uses the library as any program does, and loads it when it is needed.
  'cli/options': { may: [...CONTRACT, 'request'], packages: ['commander', 'node'] },
  'cli/output': {
    may: [...CONTRACT, 'policy:type', 'process', 'config/environment'],
    packages: ['commander:type', 'node', 'picocolors'],
  },
  'cli/connection': {
    may: ['process', 'config', 'config/environment', 'config/temporal', 'starter.ts:type', 'starter.ts:dynamic'],
    packages: [],
  },
  'cli/waiting': {
    may: [...CONTRACT, 'process', 'cli/output', 'starter.ts:type'],
    packages: ['node'],
  },
  'cli/top': {
    may: [
      ...CONTRACT,
      'rules',
      'process',
      'hosting-api',
      'config',
      'config/environment',
      'cli/output',
      'cli/waiting',
      'starter.ts:type',
    ],
    packages: ['node', 'picocolors'],
  },
  'cli/check': {
    may: [...CONTRACT, 'config', 'config/environment', 'policy', 'rules', 'site-check', 'cli/output', 'cli/top'],
    packages: [],
  },
  'cli/doctor': {
    may: [
      ...CONTRACT,
      'hosting-api',
      'config',
      'config/environment',
      'config/temporal',
      'encryption',
      'policy',
      'site-check',
      'activities/notifications',
      'client/connection',
      'client/runs',
      'client/schedules',
      'worker',
      'worker/attributes',
    ],
    packages: ['@temporalio/client:type', '@temporalio/common', '@temporalio/proto', '@temporalio/worker:type'],
  },
  'cli/actions': {
    may: [
      ...CONTRACT,
      'request/calendar',
      'policy',
      'process',
      'config',
      'config/environment',
      'config/plan',
      'config/temporal',
      'webhooks',
      'client/connection:dynamic',
      'worker:dynamic',
      'dev',
      'cli/options',
      'cli/output',
      'cli/connection',
      'cli/waiting',
      'cli/top',
      'cli/check:dynamic',
      'cli/doctor:type',
      'cli/doctor:dynamic',
      'starter.ts:type',
    ],
    packages: ['@temporalio/worker:dynamic', 'node', 'picocolors'],
  },
  // Names, options and help. Each loads what it does when it is called, so that help and completion stay light.
  'cli/commands': {
    may: [
      'contract',
      'request',
      'cli/options',
      'cli/actions:type',
      'cli/actions:dynamic',
      'worker.ts:dynamic',
      'webhooks.ts:dynamic',
      'codec-server.ts:dynamic',
      'sandbox.ts:dynamic',
    ],
    packages: ['commander'],
  },
  'cli/completion': { may: ['contract/wording', 'config'], packages: ['@bomb.sh/tab', 'commander:type'] },
  cli: {
    may: [...CONTRACT, 'process', 'config/environment', 'cli/output', 'cli/commands', 'cli/completion'],
    packages: ['commander'],
  },
};
