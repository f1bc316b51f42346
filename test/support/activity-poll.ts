/** What the SDK passes to a slot supplier when it polls for an activity. */
export const ACTIVITY_POLL = {
  slotType: 'activity',
  taskQueue: 'q',
  workerIdentity: 'w',
  workerBuildId: '',
  isSticky: false,
} as const;
