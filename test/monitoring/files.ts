/** The alerts and the dashboard in deploy/, and the metrics that they use. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT } from '../support/readme.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

export const rules = (): Rule[] =>
  (parse(textOf('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

export function dashboardQueries(): string[] {
  const { panels } = JSON.parse(textOf('deploy/grafana/belay.json')) as { panels: { targets: { expr: string }[] }[] };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

/** The names of metrics in a query. Those of a histogram have no suffix. */
export const metricsIn = (query: string): string[] =>
  [...query.replace(/\{[^}]*\}/g, '').matchAll(/\b(?:belay|temporal)_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  );
