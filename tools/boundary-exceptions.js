/** Imports that boundaries.js would forbid, from before features hung on lists. Entries only go. */

/** Files outside of src/features, and the features that they know. */
export const CORE_KNOWS = {
  // What a run shows beside its progress.
  'cli/*.ts': ['advice', 'board', 'freezes', 'rollouts', 'site-checks'],
  // The receiver hands over to the feature that is its other half.
  'webhooks/*.ts': ['events'],
};

/** Features, and those of which they import more than shapes.ts and text.ts. */
export const FEATURES_KNOW = {
  receipts: ['approvals'],
};
