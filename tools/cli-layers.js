/** Who may import whom on the command line: rows of the table in layers.js. */
import { CONTRACT, RULES } from './workflow-layers.js';

const COMMAND = ['contract', 'contract/wording', 'request', 'cli/options'];
const ACTION = [
  ...CONTRACT,
  'policy',
  'process',
  'config',
  'config/environment',
  'cli/output',
  'cli/connection',
  'starter.ts:type',
];

export const CLI_LAYERS = {
  // The command line uses the library as any program does, and loads it when it is needed.
  'cli/options': { may: [...CONTRACT, 'request'], packages: ['commander', 'node'] },
  'cli/output': {
    may: [...CONTRACT, 'policy/sections:type', 'rules/past:type', 'process', 'config/environment'],
    packages: ['commander:type', 'node', 'picocolors'],
  },
  'cli/approvals': { may: [...CONTRACT, 'approvals', 'config/environment'], packages: ['jose', 'node', 'zod'] },
  'cli/connection': {
    may: ['process', 'config', 'config/environment', 'config/temporal', 'starter.ts:type', 'starter.ts:dynamic'],
    packages: [],
  },
  'cli/waiting': {
    may: [...CONTRACT, 'rules/past', 'process', 'cli/output', 'starter.ts:type'],
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
    may: [...CONTRACT, 'config', 'config/environment', 'policy', ...RULES, 'site-check', 'cli/output', 'cli/top'],
    packages: [],
  },
  'cli/gates': {
    may: [...CONTRACT, 'config', 'config/plan', 'policy', 'policy/sections', 'gates', 'site-check', 'cli/output'],
    packages: [],
  },
  'cli/doctor': {
    may: [
      ...CONTRACT,
      'hosting-api',
      'config',
      'config/plan',
      'config/environment',
      'config/temporal',
      'encryption',
      'policy',
      'policy/sections',
      'site-check',
      'activities/notifications',
      'rules/past:type',
      'client/connection',
      'client/transport',
      'client/past',
      'client/runs',
      'client/schedules',
      'worker',
      'worker/attributes',
    ],
    packages: ['@temporalio/client:type', '@temporalio/common', '@temporalio/proto'],
  },
  'cli/dry-run': {
    may: [
      ...CONTRACT,
      'request',
      'request/input',
      'request/start',
      'policy',
      'policy/sections:type',
      'rules/past',
      'rules/policy',
      'process',
      'config',
      'cli/output',
      'cli/connection',
      'starter.ts:type',
    ],
    packages: [],
  },
  // Actions and commands about checks, freezes, approvals and gates.
  'cli/actions/policy': {
    may: [...ACTION, 'cli/approvals:dynamic', 'cli/check:dynamic', 'cli/gates:dynamic'],
    packages: ['node'],
  },
  'cli/actions': {
    may: [
      ...ACTION,
      'request',
      'request/calendar',
      'approvals',
      'receipts',
      'config/plan',
      'config/temporal',
      'webhooks',
      'client/connection:dynamic',
      'client/transport:dynamic',
      'dev',
      'cli/options',
      'cli/waiting',
      'cli/top',
      'cli/dry-run:dynamic',
      'cli/doctor:type',
      'cli/doctor:dynamic',
      'cli/actions/policy',
    ],
    packages: ['node', 'p-map', 'picocolors'],
  },
  // Names, options and help. Each loads what it does when it is called, so that help and completion stay light.
  'cli/commands/policy': {
    may: [...COMMAND, 'cli/actions/policy:type', 'cli/actions/policy:dynamic'],
    packages: ['commander'],
  },
  'cli/commands': {
    may: [
      ...COMMAND,
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
    may: [
      ...CONTRACT,
      'process',
      'config/environment',
      'cli/output',
      'cli/options',
      'cli/commands',
      'cli/commands/policy',
      'cli/completion',
    ],
    packages: ['commander'],
  },
};
