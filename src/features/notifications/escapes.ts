/** Makes text from outside safe to show in each kind of chat: no mention, no link, no markup. Pure. */
import { plainText } from '../../contract/safe-text.ts';

export type Escape = (text: string) => string;

const ZERO_WIDTH = '\u200b';

/**
 * Escapes Slack's three control characters, so that `<!channel>` is plain text. A zero-width space breaks the mentions
 * and links of chats that take Markdown.
 */
export function slackText(text: string): string {
  const escaped = plainText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replace(/@|\](?=\()/g, (it) => (it === '@' ? `@${ZERO_WIDTH}` : `${it}${ZERO_WIDTH}`));
}

/** A backslash takes the meaning from each sign of Discord's Markdown, mentions and timestamps among them. */
export function discordText(text: string): string {
  return plainText(text)
    .replaceAll(/[\\*_~`|>#[\]()<:-]/g, String.raw`\$&`)
    .replaceAll('@', `@${ZERO_WIDTH}`);
}

/** A run of text in an Adaptive Card has no Markdown. Only the functions of templates and dates are left to break. */
export function cardText(text: string): string {
  return plainText(text)
    .replaceAll(/(?<=[{$])\{|(?<=\$)\(/g, `${ZERO_WIDTH}$&`)
    .replaceAll('@', `@${ZERO_WIDTH}`);
}
