/** Alerts, dashboard and runbook belong together: each name and each link is the same in all of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../support/readme.ts';
import { dashboardQueries, metricsIn, rules } from '../monitoring/files.ts';

const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const RUNBOOK = 'docs/how-to/operate.md';

/** What only appears once something fails, and what the SDK documents itself. */
const OF_THE_SDK = /^temporal_/;

const documented = new Set(
  [...textOf('docs/reference/metrics.md').matchAll(/^\| `(belay_\w+)`/gm)].map(([, it]) => it),
);

test('every alert links to an entry of the runbook, and every entry has an alert', () => {
  const links = rules().map(({ annotations }) => annotations.runbook);
  const alarms = textOf(RUNBOOK).split('\n## Alarms')[1]?.split('\n## ')[0] ?? '';
  const entries = [...alarms.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => `${RUNBOOK}#${name.toLowerCase()}`);
  assert.deepEqual(links, entries);
});

test('every entry of the runbook says what Belay does, the first command and what not to do', () => {
  const text = textOf(RUNBOOK);
  for (const entry of text.split('\n### ').slice(1)) {
    if (/^[^\n]*\n\nSee \[/.test(entry)) continue;
    for (const part of ['**Belay:**', '**First step:**', '**Do not**']) {
      assert.ok(entry.includes(part), `${entry.split('\n')[0]}: ${part}`);
    }
  }
});

test('every metric in alerts and dashboard is documented, and every documented one of a worker is on the dashboard', () => {
  const shown = new Set(dashboardQueries().flatMap(metricsIn));
  const used = new Set([...shown, ...rules().flatMap(({ expr }) => metricsIn(expr))]);
  const unknown = [...used].filter((name) => !documented.has(name) && !OF_THE_SDK.test(name));
  assert.deepEqual(unknown, []);
  assert.deepEqual(
    [...documented].filter((name) => !shown.has(name!)),
    [],
  );
});

test('every alert has a test', () => {
  const tested = JSON.stringify(parse(textOf('deploy/alerts.test.yml')));
  const untested = rules().filter(({ alert }) => !tested.includes(`"alertname":"${alert}","exp_alerts"`));
  assert.deepEqual(
    untested.map(({ alert }) => alert),
    [],
  );
});

test('the dashboard can be imported: it has no id and names no data source', () => {
  const dashboard = JSON.parse(textOf('deploy/grafana/belay.json')) as {
    id: null;
    uid: string;
    schemaVersion: number;
    panels: { id: number; datasource: { uid: string }; fieldConfig: { defaults: { unit: string } } }[];
  };
  assert.deepEqual([dashboard.id, dashboard.uid], [null, 'belay']);
  assert.ok(dashboard.schemaVersion > 0);
  for (const { datasource, fieldConfig } of dashboard.panels) {
    assert.equal(datasource.uid, '${datasource}');
    assert.notEqual(fieldConfig.defaults.unit, '');
  }
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});
