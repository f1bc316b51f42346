/** What all plots share: SVG that is written directly, colours, and a legend to the right. */

export const SIZE = { width: 760, height: 360 } as const;
/** Where values are drawn. The legend is to the right of it. */
export const AREA = { left: 70, right: 560, top: 34, bottom: 306 } as const;

const COLOURS = [
  ...['#1b6ca8', '#c1440e', '#2e7d32', '#7a3e9d', '#b8860b'],
  ...['#455a64', '#d81b60', '#00897b', '#6d4c41', '#9e9d24'],
];
const LEGEND_STEP = 18;

export const colour = (index: number): string => COLOURS[index % COLOURS.length]!;
export const rounded = (length: number): number => Math.round(10 * length) / 10;

/** Characters that XML does not allow are left out. */
const escaped = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

export function svg(title: string, parts: readonly string[], height: number = SIZE.height): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${SIZE.width}" height="${height}" fill="white"/>`,
    text(title, { x: SIZE.width / 2, y: 20, anchor: 'middle', size: 14 }),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

interface Placed {
  x: number;
  y: number;
  anchor?: 'start' | 'middle' | 'end';
  size?: number;
}

export function text(content: string, { x, y, anchor = 'start', size }: Placed): string {
  const more = `${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}${size === undefined ? '' : ` font-size="${size}"`}`;
  return `<text x="${rounded(x)}" y="${rounded(y)}"${more}>${escaped(content)}</text>`;
}

/** A square and a name for each colour, one below the other. */
export function legend(names: readonly string[], { x, y } = { x: AREA.right + 14, y: AREA.top + 10 }): string[] {
  return names.flatMap((name, index) => [
    `<rect x="${x}" y="${y + index * LEGEND_STEP - 9}" width="10" height="10" fill="${colour(index)}"/>`,
    text(name, { x: x + 16, y: y + index * LEGEND_STEP }),
  ]);
}

export const legendHeight = (names: readonly string[]): number => names.length * LEGEND_STEP;
