/** A program of the system that the test needs, and that is not installed. */
export class MissingProgram extends Error {}

/** The exit code then: EX_TEMPFAIL of sysexits.h. */
export const EXIT_MISSING = 75;
