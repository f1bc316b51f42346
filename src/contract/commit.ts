/** Recognizes commits as people write them: 7 to 64 hex digits. */

export const COMMIT = /^[0-9a-f]{7,64}$/i;

/** The full name of a commit, as repositories know it. */
export const FULL_COMMIT = /^[0-9a-f]{40}$/i;

const SHOWN_LENGTH = 12;

export const commitText = (commit: string): string => commit.slice(0, SHOWN_LENGTH);
