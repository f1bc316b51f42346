/** Chromium of the system, quiet in a closed network: it asks no server but that of the UI. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { atEnd } from '../support/at-end.ts';
import { MissingProgram } from '../support/missing-program.ts';

const CHROMIUM = '/usr/bin/chromium';
const QUIET = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];
/** Only keeps a test from waiting forever. */
const LIMIT_MS = 180_000;

export interface Ui {
  url: string;
  page: Page;
  /** What the page asked of other servers. */
  blocked: string[];
}

/** @throws MissingProgram */
export function requireChromium(): void {
  if (!existsSync(CHROMIUM))
    throw new MissingProgram("Chromium is missing: install Debian's package chromium, or link it to /usr/bin/chromium");
}

let launched: Promise<Browser> | undefined;

async function launch(): Promise<Browser> {
  // A new folder for its data, too.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET, headless: true });
  atEnd(() => browser.close());
  return browser;
}

/** A browser without cookies, in which pages look the same on every machine. */
export async function openUi(url: string): Promise<Ui> {
  const browser = await (launched ??= launch());
  const context = await browser.newContext({
    viewport: { width: 1440, height: 1080 },
    timezoneId: 'UTC',
    locale: 'en-GB',
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(LIMIT_MS);
  const blocked: string[] = [];
  await context.route('**/*', (route, request) => {
    if (new URL(request.url()).origin === url) return route.continue();
    blocked.push(request.url());
    return route.abort();
  });
  return { url, page: await context.newPage(), blocked };
}
