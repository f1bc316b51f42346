/**
 * Who may import whom. A layer is a folder of `src`, or a folder in one; a name does not include the folders below it.
 * A row names only rows above it, so imports run in one direction. `:type` allows `import type` only, and `:dynamic`
 * allows `import()` only. `packages` are names from npm; `node` is every built-in module. What a row does not name is
 * forbidden, and a folder without a row may not exist. Lint reads this table through tools/layer-rule.js.
 *
 * The files at the top of `src` are programs, and starter.ts, the entry of the library. They may import any layer. No
 * one imports them, except for the command line, which loads each when it needs it.
 */

import { CLI_LAYERS } from './cli-layers.js';
import { WORKER_LAYERS } from './worker-layers.js';
import { CONTRACT, WORKFLOW_LAYERS } from './workflow-layers.js';

const CONFIG = ['config', 'config/environment', 'config/file', 'config/plan'];
const CLIENT_SDK = ['@temporalio/client', '@temporalio/common'];

export const LAYERS = {
  // Names and shapes that cross Temporal. Pure.
  contract: { may: [], packages: [] },
  'contract/ids': { may: ['contract'], packages: ['@noble/hashes'] },
  'contract/results': { may: ['contract'], packages: [] },
  // How long anything may take, and how long a history may get.
  'contract/budgets': { may: [], packages: [] },
  'contract/events': { may: ['contract'], packages: [] },
  'contract/wording': { may: ['contract:type', 'contract/events:type'], packages: [] },
  'contract/polling': { may: ['contract'], packages: [] },

  // What may be asked for. Pure. The calendar brings time zones along: too heavy for the workflow bundle.
  request: { may: CONTRACT, packages: ['@noble/hashes', '@temporalio/common', 'fastest-levenshtein'] },
  // The definition of what may be asked for, with its check and its messages. No workflow imports it.
  'request/input': { may: [...CONTRACT, 'request'], packages: ['@noble/hashes', 'zod'] },
  // What a start gives to Temporal, the same whether a starter, a rollout or a schedule starts it.
  'request/start': { may: [...CONTRACT, 'request'], packages: ['@noble/hashes'] },
  'request/calendar': { may: ['contract:type'], packages: ['cron-parser', 'temporal-polyfill'] },

  // Decisions that workflows and activities share. Pure.
  'rules/policy': { may: [...CONTRACT, 'request'], packages: [] },
  'rules/polling': { may: [...CONTRACT, 'request'], packages: [] },
  rules: { may: [...CONTRACT, 'request', 'rules/policy', 'rules/polling'], packages: [] },

  // What the durations of past operations suggest. Pure.
  'rules/past': { may: [...CONTRACT, 'request'], packages: [] },

  process: { may: CONTRACT, packages: ['node', 'pino', 'string-width'] },

  // Packages of their own: the client of the service, the reader of sites, and the emulator that must not share a mistake with it.
  'hosting-api': { may: [], packages: ['axios', 'dot-prop', 'lossless-json', 'node', 'zod'] },
  'site-check': { may: [], packages: ['dot-prop', 'ipaddr.js', 'node', 're2js'] },
  // Measures for gates.
  gates: { may: ['site-check'], packages: ['zod'] },
  // Verifies who approved a deployment.
  approvals: { may: ['contract:type', 'contract/wording'], packages: ['jose', 'node'] },
  // Documents about closed runs.
  receipts: { may: ['contract', 'contract/ids', 'contract/wording', 'rules/policy', 'approvals'], packages: ['zod'] },
  'sandbox/hosting': { may: [], packages: ['fastify:type', 'node', 'zod'] },
  'sandbox/delivery': { may: ['sandbox/hosting'], packages: ['node', 'standardwebhooks', 'zod'] },
  sandbox: { may: ['sandbox/hosting', 'sandbox/delivery'], packages: ['fastify', 'zod'] },

  'config/environment': {
    may: ['contract', 'contract/ids:type'],
    packages: ['@cucumber/ci-environment', 'node'],
    env: true,
  },
  'config/temporal': { may: ['config/environment'], packages: ['@temporalio/envconfig', 'node'] },
  'config/file': {
    may: [...CONTRACT, 'request', 'request/calendar', 'request/input', 'site-check', 'gates', 'config/environment'],
    packages: ['dot-prop', 'yaml', 'zod'],
  },
  'config/plan': {
    may: [...CONTRACT, 'request', 'request/calendar', 'config/environment', 'config/file'],
    packages: [],
  },
  config: {
    may: [...CONTRACT, 'config/environment', 'config/file', 'config/plan'],
    packages: ['node', 'yaml', 'zod:type'],
  },

  // What a worker's belay.yaml says about when to deploy, section by section, and what follows from all of them.
  'policy/sections': {
    may: [...CONTRACT, ...CONFIG, 'request', 'request/calendar', 'site-check', 'gates', 'approvals'],
    packages: ['node'],
  },
  policy: {
    may: [
      ...CONTRACT,
      ...CONFIG,
      'process:type',
      'request',
      'request/calendar',
      'approvals',
      'rules/policy',
      'policy/sections',
    ],
    packages: ['node'],
  },

  // Loads its packages only if traces are exported.
  tracing: {
    may: ['contract', 'contract/budgets', 'config/environment', 'process'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-base',
      'node',
    ],
  },

  // Encrypts what is stored in Temporal.
  encryption: {
    may: ['contract', 'contract/wording', 'config/environment'],
    packages: ['@temporalio/common', '@temporalio/proto', 'node'],
  },
  'encryption/server': {
    may: ['contract', 'contract/budgets', 'process:type', 'config/environment', 'encryption'],
    packages: ['@temporalio/common:type', 'fastify', 'node', 'zod'],
  },

  // The only user of @temporalio/client.
  'client/transport': {
    may: [
      'contract',
      'contract/budgets',
      'contract/results',
      'contract/wording',
      'config/environment',
      'config/temporal',
      'tracing:type',
    ],
    packages: ['@temporalio/client', 'node'],
  },
  'client/connection': {
    may: [...CONTRACT, 'config', 'config/environment', 'config/temporal', 'encryption', 'tracing', 'client/transport'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', 'node'],
  },
  'client/signals': {
    may: [...CONTRACT, 'rules', 'client/connection', 'client/transport'],
    packages: ['@temporalio/client', 'p-map'],
  },
  'client/past': {
    may: [...CONTRACT, 'rules/past', 'client/connection', 'client/transport'],
    packages: ['@temporalio/client', '@temporalio/common', 'lru-cache', 'p-map'],
  },
  'client/lookups': {
    may: [
      ...CONTRACT,
      'request/start',
      'rules',
      'rules/past',
      'policy:type',
      'encryption:type',
      'client/connection',
      'client/signals',
      'client/past',
    ],
    packages: ['@temporalio/client', '@temporalio/common', 'lru-cache', 'p-map'],
  },
  'activities/http': {
    may: [...CONTRACT, 'hosting-api', 'policy:type'],
    packages: ['@temporalio/activity', '@temporalio/common'],
  },
  'activities/notifications': {
    may: [...CONTRACT, 'config:type', 'config/environment', 'hosting-api'],
    packages: ['standardwebhooks'],
  },
  'activities/pooled-waits': {
    may: [...CONTRACT, 'rules', 'rules/polling', 'activities/http:type'],
    packages: ['@temporalio/activity', '@temporalio/common'],
  },
  activities: {
    may: [
      ...CONTRACT,
      'request',
      'request/calendar',
      'request/input',
      'rules/policy',
      'hosting-api:type',
      'policy',
      'policy/sections',
      'site-check:type',
      'gates:type',
      'client/lookups:type',
      'activities/http',
      'activities/pooled-waits',
    ],
    packages: ['@temporalio/activity', '@temporalio/common'],
  },

  ...WORKFLOW_LAYERS,

  'client/events': {
    may: [...CONTRACT, 'request/start', 'client/connection', 'client/transport'],
    packages: CLIENT_SDK,
  },
  'client/runs': {
    may: [
      ...CONTRACT,
      'request',
      'request/input',
      'request/start',
      'rules',
      'rules/polling',
      'client/connection',
      'client/transport',
    ],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', 'node', 'p-map'],
  },
  'client/rollouts': {
    may: [
      ...CONTRACT,
      'request',
      'request/input',
      'request/start',
      'client/connection',
      'client/runs',
      'client/transport',
    ],
    packages: [...CLIENT_SDK, 'p-map'],
  },
  'client/overview': {
    may: [...CONTRACT, 'client/connection', 'client/runs', 'client/rollouts'],
    packages: ['@temporalio/client:type', 'p-map'],
  },
  'client/locks': { may: [...CONTRACT, 'client/connection', 'client/lookups'], packages: ['p-map'] },
  'client/freezes': {
    may: [...CONTRACT, 'request', 'request/start', 'client/connection', 'client/lookups', 'client/signals'],
    packages: ['@temporalio/client'],
  },
  'client/approvals': {
    may: [...CONTRACT, 'rules/policy', 'client/connection', 'client/transport'],
    packages: ['@temporalio/client', 'p-map'],
  },
  'client/receipts': {
    may: [...CONTRACT, 'receipts', 'client/connection', 'client/runs', 'client/rollouts'],
    packages: [...CLIENT_SDK, 'p-map'],
  },
  'client/schedules': {
    may: [...CONTRACT, 'request', 'request/start', 'request/calendar', 'client/connection', 'client/transport'],
    packages: ['@temporalio/client', '@temporalio/common', 'node', 'p-map'],
  },
  client: {
    may: [
      'contract:type',
      'client/connection',
      'client/events',
      'client/runs',
      'client/rollouts',
      'client/overview',
      'client/past',
      'client/locks',
      'client/approvals',
      'client/receipts',
      'client/freezes',
      'client/schedules',
      'rules/past:type',
    ],
    packages: [],
  },

  // What several programs measure.
  metrics: { may: ['client/transport:type'], packages: ['prom-client'] },

  'webhooks/limits': {
    may: ['contract', 'contract/budgets', 'contract/events:type', 'contract/ids', 'client/events:type'],
    packages: ['fastify:type', 'node'],
  },
  // No token, no worker: it hands events over to the client.
  webhooks: {
    may: [
      ...CONTRACT,
      'request',
      'process',
      'config:type',
      'config/environment',
      'config/file',
      'client:type',
      'client/events',
      'client/transport:type',
      'metrics',
      'webhooks/limits',
    ],
    packages: ['dot-prop', 'fastify', 'lossless-json', 'node', 'prom-client', 'secure-json-parse'],
  },
  ...WORKER_LAYERS,
  dev: {
    may: [
      ...CONTRACT,
      'process',
      'sandbox',
      'config:type',
      'config/environment',
      'config/file:type',
      'config/temporal',
      'encryption',
      'tracing',
      'client/connection:type',
      'webhooks',
      'worker',
    ],
    packages: ['@temporalio/common', '@temporalio/testing:dynamic', '@temporalio/worker', 'node'],
  },

  ...CLI_LAYERS,
};
