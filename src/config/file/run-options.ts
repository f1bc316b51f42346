/** The option table as keys of belay.yaml, and what they become. */
import type { RunOptions } from '../../features/rollouts/shapes.ts';
import { setValueAt, splitPath, type RunOptionPath } from '../../request/option-path.ts';
import { RUN_OPTIONS, type OptionType } from '../../request/run-options.ts';

interface OptionInFile {
  path: RunOptionPath;
  /** Its key below `group`, or at the top. */
  yaml: string;
  group: 'backup' | 'deploy' | null;
  type: OptionType;
  help: string;
}

export const IN_FILE: readonly OptionInFile[] = RUN_OPTIONS.flatMap(({ path, yaml, type, help }) =>
  yaml === null ? [] : [{ path, yaml, group: splitPath(path).group, type, help }],
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
