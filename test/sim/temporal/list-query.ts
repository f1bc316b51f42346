/** The filters of lists that Belay's activities use. A new one is an error. */
import { searchAttribute } from '../stack/inspect.ts';
import type { Run } from './types.ts';

const CONDITION = /^(\w+) (=|>=|STARTS_WITH) '((?:[^'\\]|\\.)*)'$/;

/** Conditions joined by AND, of which one in parentheses may have parts joined by OR. */
export const matches = (run: Run, query: string): boolean =>
  query.split(' AND ').every((part) =>
    part
      .replace(/^\((.*)\)$/, '$1')
      .split(' OR ')
      .some((condition) => holds(run, condition)),
  );

function holds(run: Run, condition: string): boolean {
  const [, name = '', operator, quoted = ''] = CONDITION.exec(condition) ?? [];
  const value = quoted.replace(/\\(.)/g, '$1');
  const own = FIELDS[name]?.(run);
  if (own === undefined) throw new Error(`the simulator knows no filter ${condition}`);
  if (operator === 'STARTS_WITH') return own.startsWith(value);
  return operator === '=' ? own === value : own >= value;
}

const FIELDS: Partial<Record<string, (run: Run) => string>> = {
  WorkflowId: ({ workflowId }) => workflowId,
  WorkflowType: ({ type }) => type,
  BelayPhase: (run) => (searchAttribute(run, 'BelayPhase') ?? '') as string,
  ExecutionStatus: statusOf,
  StartTime: ({ startedMs }) => new Date(startedMs).toISOString(),
};

export function statusOf({ outcome }: Run): 'Running' | 'Terminated' | 'Completed' | 'Failed' {
  if (outcome === null) return 'Running';
  if (outcome === 'terminated') return 'Terminated';
  return 'result' in outcome ? 'Completed' : 'Failed';
}
