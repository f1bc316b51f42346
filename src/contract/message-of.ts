/** The message of what was thrown, whatever it is. Pure. */

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
