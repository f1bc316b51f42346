/**
 * Names the package in each command that a message quotes. A message may come from another package, such as the one of the
 * worker, so messages say only `belay`.
 */

/** The build of belay-cli changes this to `npx belay-cli`. */
const OWN = 'npx belay-deploy';
/** Only belay-deploy has these commands. */
const ELSEWHERE = /^(?:board|codec-server|demo|dev|sandbox|webhooks|worker)\b/;

/** Completes each command that a text quotes: `belay wait x` becomes `npx belay-deploy wait x`. */
export const withOwnCommand = (text: string): string =>
  text.replace(/`belay (?=([a-z-][\w-]*))/g, (_, command: string) =>
    ELSEWHERE.test(command) ? '`npx belay-deploy ' : `\`${OWN} `,
  );
