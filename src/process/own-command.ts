/** How this package is called: messages name the commands of Belay, and some were written by another package. */

/** belay-cli says `npx belay-cli`, by its build. */
const OWN = 'npx belay-deploy';
/** Commands that only belay-deploy has. */
const ELSEWHERE = /^(?:board|codec-server|demo|dev|sandbox|webhooks|worker)\b/;

/** Completes each command that a text quotes: `belay wait x` becomes `npx belay-deploy wait x`. */
export const withOwnCommand = (text: string): string =>
  text.replace(/`belay (?=([a-z][\w-]*))/g, (_, command: string) =>
    ELSEWHERE.test(command) ? '`npx belay-deploy ' : `\`${OWN} `,
  );
