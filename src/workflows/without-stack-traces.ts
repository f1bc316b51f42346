/**
 * Loaded before the workflows. For a query that Belay does not use, the SDK takes a stack trace for each promise of a
 * workflow, which takes a third of the CPU time of all workflows. So there are no stack traces, and failures have only their
 * name and message.
 */
Error.stackTraceLimit = 0;
