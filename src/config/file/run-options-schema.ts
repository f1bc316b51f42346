/** The option table as keys of belay.yaml: the options of the runs that rollouts and schedules start. */
import { z } from 'zod';
import { COMMIT } from '../../contract/wording/commit-text.ts';
import type { RunOptions } from '../../contract/rollout.ts';
import { setValueAt, splitPath } from '../../request/option-path.ts';
import { RUN_OPTIONS, type OptionType } from '../../request/run-options.ts';
import { duration, id, wholeNumber } from './schema-values.ts';

const IN_FILE = RUN_OPTIONS.flatMap((option) => {
  const { group, field } = splitPath(option.path);
  return option.yaml === null ? [] : [{ ...option, yaml: option.yaml, group, field }];
});

/** A run's options as the file gives them, durations in milliseconds. */
export type OptionsInFile = Record<string, unknown>;

/** Top-level keys, such as `deploy` and `keepGoing`. */
export const RUN_OPTION_KEYS = [...new Set(IN_FILE.map(({ group, yaml }) => group ?? yaml))];

export const runOptionsShape: Record<string, z.ZodType> = {
  backup: groupSchema('backup').describe('How to wait for backups.').optional(),
  deploy: groupSchema('deploy').describe('How to wait for deployments.').optional(),
  ...shapeOf(null),
};

/** Converts keys of the file to a run's input; keys that are not given stay out. */
export function toRunOptions(config: OptionsInFile): RunOptions {
  const options = {};
  for (const { path, group, yaml } of IN_FILE) {
    const fields = (group === null ? config : config[group]) as OptionsInFile | undefined;
    if (fields?.[yaml] !== undefined) setValueAt(options, path, fields[yaml]);
  }
  return options;
}

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
    case 'commit':
      return z.string().regex(COMMIT, { error: 'write 7 to 64 hex digits, in quotes' });
    case 'map':
      return z.record(z.string(), z.string());
  }
}

function sentence(help: string): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;
}
