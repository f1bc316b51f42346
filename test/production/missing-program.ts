/** A program of the system that the test needs, and that is not installed. */
export class MissingProgram extends Error {}
