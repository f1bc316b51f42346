/**
 * Shows which approvals would be asked for. Workers read their own belay.yaml; this command reads that of its machine.
 */
import { operationsOf } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { RolloutWave } from '../rollouts/shapes.ts';
import type { PolicyApproval } from './worker-proofs.ts';
import { askedWhen } from './rules.ts';
import type { Part, Planned } from '../../cli/planned.ts';

interface AskedFor {
  name: string;
  /** The wave that needs it. Null if it is asked before the whole rollout or run. */
  wave: string | null;
  /** Null if the belay.yaml of this machine has no approval of this name. */
  rule: PolicyApproval['rule'] | null;
}

type Wave = Pick<RolloutWave, 'name' | 'approval'>;

export const approvalsPart: Part = {
  name: 'approvals',
  look(planned, { policy: { approval, approvalsFor } }) {
    const { rollout, options, runs } = planned;
    const waves = rollout?.waves ?? [{ name: '' }];
    const needs = waves.map(({ name: wave, approval: named }: Wave) => ({
      ...{ wave, named },
      needed: runs
        .filter((run) => rollout === null || run.wave === wave)
        .flatMap((run) => operationsOf(run).flatMap(approvalsFor))
        .map(({ rule }) => rule.name),
    }));
    const { before, ofWaves } = askedWhen(rollout === null ? options.approval : rollout.approval, needs);
    const asked = [...before.map((name) => ({ name, wave: null })), ...ofWaves].map((it): AskedFor => ({
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
