/** Checks the scopes, names and proofs of approvals in belay.yaml. */
import { ownEntry } from '../../contract/plain-object.ts';
import type { ApprovalConfig } from './config.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { checkScope } from '../freezes/check-freezes.ts';
import { oneOf, type Path, type Report } from '../../config/file/config-issue.ts';

export function checkApprovals(configuration: Configuration, report: Report): void {
  checkWaves(configuration, report);
  const { approvals = {}, notify: { targets = {} } = {} } = configuration;
  for (const [name, approval] of Object.entries(approvals)) {
    const path = ['approvals', name];
    checkScope([...path, 'for'], approval.for, configuration, report);
    checkProof(path, approval, report);
    checkNeed(path, approval, report);
    for (const [index, channel] of (approval.tell ?? []).entries()) {
      if (ownEntry(targets, channel) !== undefined) continue;
      report([...path, 'tell', index], `there is no ${channel}: ${oneOf(targets, 'notify.targets')}`);
    }
  }
}

function checkProof(path: Path, { proof, signers }: ApprovalConfig, report: Report): void {
  if (proof === 'ssh' && signers === undefined)
    report([...path, 'proof'], "ssh needs signers: write signers: { file: PATH } with OpenSSH's allowed signers");
  if (proof !== 'ssh' && signers !== undefined)
    report([...path, 'signers'], 'only proof: ssh reads a file of signers: remove it, or write proof: ssh');
}

function checkNeed(path: Path, { need = 1, from, proof }: ApprovalConfig, report: Report): void {
  if (typeof proof === 'object' && need > 1)
    report([...path, 'need'], 'one job of GitHub approves: its environment says how many people have to review');
  if (from !== undefined && new Set(from).size < from.length)
    report([...path, 'from'], 'names someone twice: remove one');
  if (from !== undefined && need > from.length)
    report([...path, 'need'], `only ${from.length} may decide: name more in from:, or lower it`);
}

function checkWaves({ approvals = {}, rollouts = {} }: Configuration, report: Report): void {
  for (const [name, { waves = [] }] of Object.entries(rollouts)) {
    for (const [index, { approval }] of waves.entries()) {
      if (approval === undefined || ownEntry(approvals, approval) !== undefined) continue;
      const path = ['rollouts', name, 'waves', index, 'approval'];
      report(path, `there is no ${approval}: ${oneOf(approvals, 'approvals')}`);
    }
  }
}
