/** The schema of the options of the runs that rollouts and schedules start. */
import { z } from 'zod';
import { COMMIT } from '../../features/reports/commit-text.ts';
import type { OptionType } from '../../request/run-options.ts';
import { IN_FILE } from './run-options.ts';
import { duration, id, oneOrMore, wholeNumber } from './schema-values.ts';

export const runOptionsShape: Record<string, z.ZodType> = {
  backup: groupSchema('backup').describe('How to wait for backups.').optional(),
  deploy: groupSchema('deploy').describe('How to wait for deployments.').optional(),
  ...shapeOf(null),
};

function groupSchema(group: 'backup' | 'deploy') {
  return z.strictObject(shapeOf(group));
}

function shapeOf(group: 'backup' | 'deploy' | null): Record<string, z.ZodType> {
  const rows = IN_FILE.filter((row) => row.group === group);
  return Object.fromEntries(
    rows.map(({ yaml, type, help }) => [yaml, schemaOf(type).describe(sentence(help)).optional()]),
  );
}

function schemaOf(type: OptionType): z.ZodType {
  switch (type.kind) {
    case 'duration':
      return duration(type.limits);
    case 'count':
      return wholeNumber(type.limits);
    case 'choice':
      return z.enum(type.of);
    case 'switch':
      return z.boolean();
    case 'id':
      return id;
    case 'ids':
      return oneOrMore(id, 'write a name, or a list of names');
    case 'commit':
      return z.string().regex(COMMIT, { error: 'write 7 to 64 hex digits, in quotes' });
    case 'map':
      return z.record(z.string(), z.string());
  }
}

function sentence(help: string): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;
}
