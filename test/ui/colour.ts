/** The colour that people see behind a text of a page. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';

/** What of the browser's own objects is used, since the types of the project know only Node's. */
interface Element {
  parentElement: Element | null;
}
interface Window {
  document: { createElement(name: 'canvas'): { getContext(kind: '2d'): Canvas } };
  getComputedStyle(element: Element): { backgroundColor: string };
}
interface Canvas {
  fillStyle: string;
  fillRect(x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: ArrayLike<number> };
}

/** Red, green, blue and opacity, 0 to 255. Drawn, because a style may name its colour in any colour space. */
async function colourBehind(text: Locator): Promise<number[]> {
  await text.waitFor();
  return text.evaluate((found: Element) => {
    const window = globalThis as unknown as Window;
    const canvas = window.document.createElement('canvas').getContext('2d');
    let drawn = [255, 255, 255, 0];
    for (let it: Element | null = found; it !== null && drawn[3] === 0; it = it.parentElement) {
      canvas.fillStyle = window.getComputedStyle(it).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      drawn = Array.from(canvas.getImageData(0, 0, 1, 1).data);
    }
    return drawn;
  });
}

export async function assertRed(text: Locator): Promise<void> {
  const [red = 0, green = 0, blue = 0] = await colourBehind(text);
  assert.ok(red > green + 10 && red > blue + 10, `rgb(${red}, ${green}, ${blue})`);
}
