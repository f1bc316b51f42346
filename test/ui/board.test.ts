/** The pages of the board in headless Chromium, each state with axe. Asks neither Temporal nor a service. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import axe from 'axe-core';
import { pino } from 'pino';
import type { PastVerdict } from '../../src/features/board/past.ts';
import { createBoardServer } from '../../src/features/board/server.ts';
import { boardStatusOf, type BoardSeen } from '../../src/features/board/status.ts';
import { atEnd } from '../support/at-end.ts';
import { inFlight, NOW, nowMs, pastOf, seen, site, verdict } from '../support/board.ts';
import { inRepository } from '../support/compose.ts';
import { openUi, type Ui } from './browser.ts';

interface Axe {
  run(context?: object): Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }>;
}

async function open(state: Partial<BoardSeen>, { timers = true } = {}) {
  const shown = { seen: seen(state) };
  const status = (since: string | null = null) => boardStatusOf(shown.seen, nowMs, since);
  const app = createBoardServer({
    board: {
      look: () => Promise.resolve(),
      status,
      target: ({ kind, id }) => {
        const row = status().targets.find((it) => it.kind === kind && it.id === id);
        return row === undefined ? null : { row, past: shown.seen.past.of(row) };
      },
    },
    guards: { isLoopback: true, secret: null, identity: null },
    log: pino({ level: 'silent' }),
  });
  atEnd(() => app.close());
  const ui = await openUi(await app.listen({ host: '127.0.0.1', port: 0 }));
  const problems: string[] = [];
  ui.page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
  ui.page.on('pageerror', (error) => void problems.push(error.message));
  // The pages tell how long ago something was.
  if (timers) await ui.page.clock.setFixedTime(new Date(NOW));
  else await ui.page.clock.install({ time: new Date(NOW) });
  await ui.page.goto(ui.url);
  return { ui, app, shown, problems };
}

/** The policy of the page forbids scripts that it did not send, so axe is run by the debugger. */
async function assertAccessible({ page }: Ui): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  assert.deepEqual(
    violations.map(({ id, help, nodes }) => [id, help, nodes.slice(0, 3).map(({ html }) => html)]),
    [],
  );
}

/** Nothing sticks out to the right. */
const isWiderThanScreen = ({ page }: Ui): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const ids = (count: number) => Array.from({ length: count }, (_, index) => `shop-${index + 1}`);
const good = (id: string) =>
  [`site:${id}`, [verdict({ workflowId: `deploy:${id}:k`, commit: '4f2c9e1d' })]] as [string, PastVerdict[]];
const FAILED = verdict({
  outcome: 'failed',
  error: 'the service reported that the deployment failed',
  commit: 'b81d0c3a',
});
const wellOf = (count: number) => ({
  targets: ids(count).map((id, index) => site(id, `web-${(index % 9) + 1}`)),
  past: pastOf(Object.fromEntries(ids(count).map(good))),
  readings: new Map(
    ids(count).map((id) => [
      `site:${id}`,
      { target: site(id), status: 'completed', state: null, since: NOW, readAt: NOW, problem: null, isMissing: false },
    ]),
  ),
});
const oneFailed: Partial<BoardSeen> = {
  ...wellOf(6),
  past: pastOf({
    ...Object.fromEntries(ids(6).map(good)),
    'site:shop-3': [FAILED, verdict({ commit: '4f2c9e1d' }), ...Array.from({ length: 12 }, () => verdict())],
  }),
  inFlight: [inFlight('shop-5')],
  schedules: [
    {
      ...{
        scheduleId: 'belay:shop:nightly',
        answered: true,
        when: '30 2 * * *',
        timeZone: 'Europe/Berlin',
        paused: true,
      },
      ...{ note: 'stocktaking', next: [], last: [], skipped: 0, missed: 1 },
    },
  ],
  freezes: [
    {
      ...{
        kind: 'freeze',
        source: 'belay.yaml',
        name: 'stocktaking',
        isActive: true,
        from: NOW,
        reason: 'the shop counts',
      },
      ...{ until: '2026-03-03T08:00:00.000Z', by: null, blocks: ['deploy'], override: 'reason', for: null },
      ...{ fromText: NOW, untilText: '2026-03-03 09:00 (Europe/Berlin)' },
    },
  ],
};
const STATES: [name: string, state: Partial<BoardSeen>, expected: RegExp][] = [
  ['empty', {}, /There is nothing to show yet/],
  ['all well', wellOf(6), /nothing needs attention · 0 targets in flight · 6 targets/],
  ['one failed', oneFailed, /2 need attention · 1 target in flight · 6 targets/],
  ['200 targets', wellOf(200), /200 targets/],
  [
    'Temporal away',
    { ...wellOf(3), problems: [{ source: 'workers', message: 'Temporal is away', since: NOW }] },
    /may be old/,
  ],
  ['no worker', { ...wellOf(3), workers: [] }, /no worker polls the task queue/],
];

describe('the board in a browser', { concurrency: 1 }, () => {
  for (const [name, state, expected] of STATES) {
    test(`axe finds nothing on the page: ${name}, light, dark, narrow as a phone and printed`, async () => {
      const { ui, problems } = await open(state);
      const { page } = ui;
      assert.match((await page.locator('main').innerText()).replace(/\s+/g, ' '), expected);
      const looks = [
        ['light', { colorScheme: 'light', media: 'screen' }, 1440],
        ['dark', { colorScheme: 'dark', media: 'screen' }, 1440],
        ['phone', { colorScheme: 'light', media: 'screen' }, 375],
        ['phone-dark', { colorScheme: 'dark', media: 'screen' }, 320],
        ['print', { colorScheme: 'light', media: 'print' }, 1000],
      ] as const;
      for (const [look, media, width] of looks) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia(media);
        // It takes axe a second for each twenty rows.
        if (name !== '200 targets' || look === 'light') await assertAccessible(ui);
        assert.equal(await isWiderThanScreen(ui), false, look);
        const folder = process.env.BOARD_PICTURES;
        if (folder !== undefined) await page.screenshot({ path: `${folder}/${name.replaceAll(' ', '-')}-${look}.png` });
      }
      assert.deepEqual([problems, ui.blocked], [[], []]);
    });
  }

  test('the page of a target has its last runs, and axe finds nothing', async () => {
    const { ui, problems } = await open(oneFailed);
    await ui.page.getByRole('link', { name: 'site shop-3', exact: true }).last().click();
    await ui.page.getByRole('heading', { name: 'site shop-3' }).waitFor();
    assert.equal(await ui.page.locator('.strip li').count(), 14);
    assert.match(await ui.page.locator('dl').innerText(), /verdict completed → failed; commit 4f2c9e1d → b81d0c3a/);
    await assertAccessible(ui);
    await ui.page.setViewportSize({ width: 375, height: 900 });
    await assertAccessible(ui);
    assert.deepEqual([problems, await isWiderThanScreen(ui)], [[], false]);
  });

  test('the page looks again by itself, keeps the focus, and says when the board is gone', async () => {
    const { ui, app, shown, problems } = await open(wellOf(3), { timers: false });
    const { page } = ui;
    await page.getByRole('link', { name: 'site shop-2' }).focus();
    shown.seen = seen({ ...wellOf(3), inFlight: [inFlight('shop-1')] });
    await page.clock.runFor(5_000);
    await page.getByText('try 7 of 30, last status "building"').waitFor();
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'site shop-2');
    assert.match(await page.locator('#read').innerText(), /^\d+ s ago$/);
    await app.close();
    await page.clock.runFor(5_000);
    await page.getByRole('alert').filter({ hasText: 'The board has not answered since' }).waitFor();
    assert.equal((await page.getByRole('rowheader').count()) > 0, true);
    assert.ok(
      problems.every((it) => /ERR_CONNECTION_REFUSED/.test(it)),
      problems.join(),
    );
  });

  test('without JavaScript, the page is a table with times of day', async () => {
    const { ui } = await open(oneFailed);
    const browser = ui.page.context().browser()!;
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(ui.url);
    const text = await page.locator('table').first().innerText();
    assert.match(text, /site shop-3[^]*✗ failed[^]*2026-03-02 07:59 UTC/);
    await context.close();
  });

  test('hostile text runs nothing', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const { ui, problems } = await open({
      ...{ targets: [{ ...site('a1'), id: hostile, server: hostile, fleet: hostile }] },
      past: pastOf({ [`site:${hostile}`]: [verdict({ outcome: 'failed', error: hostile, by: hostile })] }),
      inFlight: [inFlight('a2', hostile)],
    });
    let dialogs = 0;
    ui.page.on('dialog', (dialog) => void ((dialogs += 1), dialog.dismiss()));
    await ui.page.getByRole('rowheader').filter({ hasText: hostile }).getByRole('link').click();
    await ui.page.getByRole('heading', { name: 'site' }).first().waitFor();
    assert.deepEqual([dialogs, problems, await ui.page.locator('img').count()], [0, [], 0]);
    await assertAccessible(ui);
  });

  test('the picture of the README', { skip: !process.argv.includes('--update') }, async () => {
    const { ui } = await open(oneFailed);
    await ui.page.setViewportSize({ width: 1440, height: 840 });
    await writeFile(inRepository('docs/images/board.png'), await ui.page.screenshot({ animations: 'disabled' }));
  });
});
