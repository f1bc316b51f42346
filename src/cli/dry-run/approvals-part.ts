/** Which approvals would be asked for. Workers go by their own belay.yaml, this command by that of its machine. */
import { plainText } from '../../contract/wording/safe-text.ts';
import type { PolicyApproval } from '../../policy/sections/approvals.ts';
import { operationsOfRun, type Part, type Planned } from './planned.ts';

interface AskedFor {
  name: string;
  /** The wave of a rollout before which it is asked for; null for before everything. */
  wave: string | null;
  /** Null if the belay.yaml of this machine has none of this name. */
  rule: PolicyApproval['rule'] | null;
}

export const approvalsPart: Part = {
  name: 'approvals',
  look(planned, { policy: { approval, approvalsFor } }) {
    const waves = (planned.rollout?.waves ?? []).flatMap((wave) =>
      wave.approval === undefined ? [] : [{ name: wave.approval, wave: wave.name }],
    );
    const named = planned.rollout === null ? planned.options.approval : planned.rollout.approval;
    const isLater = (name: string, wave: string | null) =>
      name !== named && waves.some((it) => it.name === name && it.wave === wave);
    const needed = planned.runs.flatMap((run) =>
      operationsOfRun(run)
        .flatMap(approvalsFor)
        .map(({ rule }) => rule.name)
        .filter((name) => !isLater(name, run.wave)),
    );
    const before = [...new Set([...(named === undefined ? [] : [named]), ...needed])];
    const asked = [...before.map((name) => ({ name, wave: null })), ...waves].map((it): AskedFor => ({
      ...it,
      rule: approval(it.name)?.rule ?? null,
    }));
    return Promise.resolve({ value: asked.map(documentOf), lines: linesOf(planned, asked) });
  },
};

const documentOf = ({ name, wave, rule }: AskedFor) => ({
  ...{ name, wave, isKnown: rule !== null },
  ...{ need: rule?.need ?? null, from: rule?.from ?? null, proof: rule?.proof ?? null },
});

function linesOf({ rollout }: Planned, asked: readonly AskedFor[]): string[] {
  if (asked.length === 0) return ['approvals: no one is asked'];
  const start = rollout === null ? 'before the backup' : 'before the first server';
  return asked.map(({ name, wave, rule }) => {
    const when = wave === null ? start : `before wave ${plainText(wave)}`;
    return `approvals: ${plainText(name)}, ${ruleText(rule)}, ${when}`;
  });
}

function ruleText(rule: AskedFor['rule']): string {
  if (rule === null) return 'which is not in the belay.yaml of this machine';
  const { need, from, proof } = rule;
  const who = from === null ? '' : ` of ${from.map((it) => plainText(it)).join(', ')}`;
  return `${need}${who} (${proof === 'none' ? 'audit only' : `proof: ${proof}`})`;
}
