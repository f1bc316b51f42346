/** Who may import whom among the workflows: rows of the table in layers.js. */

export const CONTRACT = [
  'contract',
  'contract/ids',
  'contract/results',
  'contract/wording',
  'contract/budgets',
  'contract/events',
  'contract/polling',
];
/** Pure decisions. */
export const RULES = ['rules', 'rules/policy', 'rules/polling'];
const WORKFLOW_BASE = [...CONTRACT, ...RULES, 'workflows/common'];
const RUN_BASE = [...WORKFLOW_BASE, 'request', 'request/start', 'workflows/polling', 'workflows/lock'];
const WORKFLOW_SDK = ['@temporalio/common', '@temporalio/workflow'];

export const WORKFLOW_LAYERS = {
  // Deterministic: no I/O, no zod, and activities as types only.
  'workflows/common': {
    may: [...CONTRACT, 'request', 'activities:type', ...RULES],
    packages: [...WORKFLOW_SDK, '@noble/hashes'],
  },
  'workflows/polling': { may: WORKFLOW_BASE, packages: WORKFLOW_SDK },
  'workflows/lock': { may: WORKFLOW_BASE, packages: WORKFLOW_SDK },
  'workflows/operation': {
    may: [...WORKFLOW_BASE, 'workflows/polling', 'workflows/lock'],
    packages: WORKFLOW_SDK,
  },
  // What a run knows, what is settled before its backup, and its parts.
  'workflows/run/state': { may: RUN_BASE, packages: WORKFLOW_SDK },
  'workflows/run/admission': {
    may: [...RUN_BASE, 'workflows/operation', 'workflows/run/state'],
    packages: WORKFLOW_SDK,
  },
  'workflows/run/steps': {
    may: [...RUN_BASE, 'workflows/operation', 'workflows/run/state', 'workflows/run/admission'],
    packages: WORKFLOW_SDK,
  },
  'workflows/run': {
    may: [...RUN_BASE, 'workflows/operation', 'workflows/run/state', 'workflows/run/admission', 'workflows/run/steps'],
    packages: WORKFLOW_SDK,
  },
  // The features, which hang on runs and operations.
  'workflows/notify': {
    may: [...CONTRACT, 'request/start', 'rules', 'workflows/common', 'workflows/run/state:type'],
    packages: WORKFLOW_SDK,
  },
  'workflows/approval': {
    may: [...WORKFLOW_BASE, 'workflows/notify', 'workflows/run/state'],
    packages: WORKFLOW_SDK,
  },
  'workflows/freeze': { may: [...WORKFLOW_BASE, 'workflows/run/state:type'], packages: WORKFLOW_SDK },
  'workflows/superseding': {
    may: [...WORKFLOW_BASE, 'workflows/lock:type', 'workflows/run/state:type'],
    packages: WORKFLOW_SDK,
  },
  'workflows/site-check': { may: [...WORKFLOW_BASE, 'workflows/run/state:type'], packages: WORKFLOW_SDK },
  'workflows/rollout': {
    may: [
      ...CONTRACT,
      'request',
      'request/start',
      ...RULES,
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
      'workflows/approval',
      'workflows/superseding',
      'workflows/site-check',
      'workflows/run/state',
      'contract',
      'contract/ids',
    ],
    packages: ['@temporalio/workflow'],
  },
};
