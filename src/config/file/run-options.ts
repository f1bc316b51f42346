/** The option table as keys of belay.yaml, and what they become. */
import { z } from 'zod';
import type { RunOptions } from '../../features/rollouts/shapes.ts';
import { setValueAt, splitPath, RUN_OPTIONS, type OptionType } from '../../request/run-options.ts';
import { COMMIT } from '../../contract/commit.ts';
import { duration, id, oneOrMore, wholeNumber } from './schema-values.ts';

/** Each is below its `group`, or at the top. */
const IN_FILE = RUN_OPTIONS.flatMap(({ path, yaml, type, help }) =>
  yaml === undefined ? [] : [{ path, yaml, group: splitPath(path).group, type, help }],
);

/** A run's options as the file gives them, durations in milliseconds. */
export type OptionsInFile = Record<string, unknown>;

/** Top-level keys, such as `deploy` and `keepGoing`. */
export const RUN_OPTION_KEYS = [...new Set(IN_FILE.map(({ group, yaml }) => group ?? yaml))];

/** Converts keys of the file to a run's input; keys that are not given stay out. */
export function toRunOptions(config: OptionsInFile): RunOptions {
  const options = {};
  for (const { path, group, yaml } of IN_FILE) {
    const fields = (group === null ? config : config[group]) as OptionsInFile | undefined;
    if (fields?.[yaml] !== undefined) setValueAt(options, path, fields[yaml]);
  }
  return options;
}

/* The schema of the options of the runs that rollouts and schedules start. */

const shape: Record<string, z.ZodType> = {
  backup: z.strictObject(shapeOf('backup')).describe('How to wait for backups.').optional(),
  deploy: z.strictObject(shapeOf('deploy')).describe('How to wait for deployments.').optional(),
  ...shapeOf(null),
};

/** Only `toRunOptions` reads these keys. */
export const runOptionsShape = shape as Record<'backup' | 'deploy' | 'keepGoing', z.ZodOptional<z.ZodUnknown>>;

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
