/** Who may import whom among the workflows: rows of the table in layers.js. */

export const CONTRACT = ['contract', 'contract/ids', 'contract/results', 'contract/wording'];
const WORKFLOW_BASE = [...CONTRACT, 'rules', 'workflows/common'];
const WORKFLOW_SDK = ['@temporalio/common', '@temporalio/workflow'];

export const WORKFLOW_LAYERS = {
  // Deterministic: no I/O, no zod, and activities as types only.
  'workflows/common': {
    may: [...CONTRACT, 'request', 'activities:type', 'rules'],
    packages: [...WORKFLOW_SDK, '@noble/hashes'],
  },
  'workflows/polling': { may: WORKFLOW_BASE, packages: WORKFLOW_SDK },
  'workflows/lock': { may: WORKFLOW_BASE, packages: WORKFLOW_SDK },
  'workflows/notify': { may: [...CONTRACT, 'request/start', 'rules:type', 'workflows/common'], packages: WORKFLOW_SDK },
  'workflows/approval': {
    may: [...WORKFLOW_BASE, 'workflows/notify'],
    packages: WORKFLOW_SDK,
  },
  'workflows/operation': {
    may: [...WORKFLOW_BASE, 'workflows/polling', 'workflows/lock'],
    packages: WORKFLOW_SDK,
  },
  'workflows/run': {
    may: [
      ...WORKFLOW_BASE,
      'request',
      'request/start',
      'workflows/polling',
      'workflows/lock',
      'workflows/notify',
      'workflows/approval',
      'workflows/operation',
    ],
    packages: WORKFLOW_SDK,
  },
  'workflows/rollout': {
    may: [
      ...CONTRACT,
      'request',
      'request/start',
      'rules',
      'workflows/common',
      'workflows/notify',
      'workflows/approval',
    ],
    packages: WORKFLOW_SDK,
  },
  'workflows/schedule': {
    may: [...CONTRACT, 'request', 'request/start', 'workflows/common'],
    packages: WORKFLOW_SDK,
  },
  'workflows/freeze': { may: ['contract', 'contract/ids', 'contract/wording'], packages: WORKFLOW_SDK },
  'workflows/event': {
    may: [...CONTRACT, 'workflows/common', 'workflows/notify', 'workflows/operation'],
    packages: WORKFLOW_SDK,
  },
  workflows: {
    may: [
      'workflows/notify',
      'workflows/operation',
      'workflows/run',
      'workflows/rollout',
      'workflows/schedule',
      'workflows/event',
      'workflows/freeze',
      'contract/ids',
    ],
    packages: ['@temporalio/workflow'],
  },
};
