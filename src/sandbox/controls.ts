/** What can be done to the sandbox besides asking it: scripts and outside actors. */
import type { Kind, ScriptPart } from './script.ts';
import type { JournalEntry, State } from './state.ts';

export type Target = { site: string } | { server: string };

export interface Controls {
  readonly journal: readonly JournalEntry[];
  /** Sets how the next operations on a target go, one script each; the last one stays. */
  script(target: Target, ...scripts: ScriptPart[]): void;
  /** Somebody else acts: a push deploys the site, or another user backs the server up. */
  act(target: Target): void;
}

export function createControls(state: State): Controls {
  return {
    journal: state.journal,
    script(target, ...scripts) {
      const [kind, id] = operationOn(target);
      state.script(kind, id, scripts);
    },
    act(target) {
      const { id, kind, target: name } = state.begin(...operationOn(target), 'outside');
      const request = kind === 'backup' ? `somebody backs up ${name}` : `a push deploys ${name}`;
      state.note({ by: 'outside', request, began: { id, kind, target: name } });
    },
  };
}

function operationOn(target: Target): [Kind, string] {
  return 'site' in target ? ['deployment', target.site] : ['backup', target.server];
}
