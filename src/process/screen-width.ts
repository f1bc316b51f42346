/** How much room text takes on a terminal: some characters take two columns, and others none. */
import screenWidth from 'string-width';

export { screenWidth };

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text, cut where more would not fit. */
export function fitting(text: string, columns: number): string {
  if (screenWidth(text) <= columns) return text;
  let [cut, left] = ['', columns - 1];
  for (const { segment } of characters.segment(text)) {
    left -= screenWidth(segment);
    if (left < 0) break;
    cut += segment;
  }
  return `${cut}…`;
}
