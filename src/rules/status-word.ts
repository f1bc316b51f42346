/** Compares status words of the service. Pure. */

/** Two status words are the same if they differ only in case or surrounding spaces. */
export const normalizeStatus = (word: string): string => word.trim().toLowerCase();
