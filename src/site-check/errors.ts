/** Why a site gave no answer that counts. The message contains no secret. */
export class NoAnswer extends Error {}

/** The answer is over a limit: the site did answer. */
export class Oversized extends Error {}
