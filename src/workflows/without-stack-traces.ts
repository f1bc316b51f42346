/**
 * Loaded before the workflows. For a query that Belay does not use, the SDK takes a stack trace for each promise of a
 * workflow, a third of the CPU time of all workflows. So there are none, and failures keep their name and message.
 */
Error.stackTraceLimit = 0;
