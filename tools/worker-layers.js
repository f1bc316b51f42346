/** Who may import whom among the parts of a worker: rows of the table in layers.js. */

import { CONTRACT } from './workflow-layers.js';

export const WORKER_LAYERS = {
  'worker/clock': { may: [], packages: [] },
  'worker/admission': { may: ['contract/budgets', 'worker/clock'], packages: [] },
  'worker/pool': { may: ['activities/pooled-waits:type', 'worker/clock'], packages: [] },
  'worker/attributes': {
    may: ['contract', 'contract/wording', 'config/environment:type', 'config/temporal', 'client/transport'],
    packages: ['@temporalio/client:type', '@temporalio/proto'],
  },
  'worker/bundle': { may: ['contract/ids'], packages: ['@temporalio/common', '@temporalio/worker', 'node'] },
  'worker/queue': {
    may: [...CONTRACT, 'policy:type', 'process:type', 'hosting-api:type', 'client/connection'],
    packages: ['@temporalio/client:type', 'node'],
  },
  'worker/slots': { may: [], packages: ['@temporalio/worker', 'node'] },
  'worker/monitoring': {
    may: [...CONTRACT, 'hosting-api:type', 'process', 'client/transport:type', 'config/environment', 'metrics'],
    packages: ['@temporalio/worker:type', 'fastify', 'node', 'prom-client'],
  },
  'worker/sdk-workers': {
    may: [...CONTRACT, 'activities:type', 'worker/admission:type', 'worker/slots'],
    packages: ['@temporalio/worker', 'node'],
  },
  'worker/tracing': {
    may: ['contract', 'hosting-api:type', 'tracing:type'],
    packages: ['@temporalio/activity:type', '@temporalio/common', '@temporalio/worker:type', 'node'],
  },
  worker: {
    may: [
      ...CONTRACT,
      'process',
      'hosting-api',
      'config:type',
      'config/environment',
      'config/temporal',
      'policy',
      'policy/sections',
      'site-check',
      'activities',
      'activities/http',
      'activities/notifications',
      'encryption',
      'client/connection',
      'client/lookups',
      'client/transport',
      'worker/admission',
      'worker/attributes',
      'worker/bundle',
      'worker/monitoring',
      'worker/pool',
      'worker/queue',
      'worker/sdk-workers',
      'worker/tracing',
      'tracing:type',
    ],
    packages: ['@temporalio/client:type', '@temporalio/proto', '@temporalio/worker', 'node'],
  },
};
