/** What the SDK tells a slot supplier of a poll for an activity. */
export const ACTIVITY_POLL = {
  slotType: 'activity',
  taskQueue: 'q',
  workerIdentity: 'w',
  workerBuildId: '',
  isSticky: false,
} as const;
