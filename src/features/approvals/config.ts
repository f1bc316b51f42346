/** Approvals in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { LIMITS } from '../../request/limits.ts';
import { checkScope, scope } from '../../config/file/scope.ts';
import { duration, name, wholeNumber, oneOf, type Path, type ReportIssue } from '../../config/file/schema-values.ts';
import { ownEntry } from '../../contract/plain-object.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

const NEED_LIMITS = [1, 20] as const;
const MAX_NAMES = 100;

const PRINCIPAL = { error: 'write who may decide, as the file of signers names them: no blanks at the ends' };
const principal = z
  .string(PRINCIPAL)
  .min(1, PRINCIPAL)
  .max(200, PRINCIPAL)
  // eslint-disable-next-line no-control-regex -- matches control characters to reject them
  .regex(/^[^\s\u0000-\u001f](?:[^\u0000-\u001f]*[^\s\u0000-\u001f])?$/, PRINCIPAL);

const github = z.strictObject({
  repository: z
    .int({ error: 'write the number of the repository' })
    .positive()
    .describe('The number of the repository.'),
  environment: z.string().trim().min(1).describe('The environment of the job that approves.'),
  issuer: z
    .url({ protocol: /^https$/, error: 'write an address that begins with https://' })
    .describe('Of GitHub Enterprise Server; default that of github.com.')
    .optional(),
});

const approval = z.strictObject(
  {
    for: scope.optional(),
    need: wholeNumber(NEED_LIMITS)
      .describe('How many different people have to approve, each with a key of their own; default 1.')
      .optional(),
    from: z
      .array(principal)
      .min(1, { error: 'write at least one' })
      .max(MAX_NAMES, { error: `write at most ${MAX_NAMES}` })
      .describe('Who may decide; default everyone in the file of signers.')
      .optional(),
    proof: z
      .union([z.enum(['ssh', 'none']), z.strictObject({ github })], {
        error: 'write ssh, github: with repository and environment, or none for an audit only',
      })
      .describe('What proves who decides: a signature of SSH, a job of GitHub, or nothing, which is audit only.'),
    signers: z
      .strictObject({ file: z.string().trim().min(1) }, { error: 'write { file: PATH }' })
      .describe("OpenSSH's file of allowed signers. A worker reads it again for every decision and request.")
      .optional(),
    expiry: duration(LIMITS.approvalExpiryMs).describe('How long the question is open; default 24h.').optional(),
    goodFor: duration(LIMITS.approvalGoodForMs)
      .describe('From the last approval to the begin of each deployment; default 12h.')
      .optional(),
    tell: z.array(name).min(1).describe('Which of notify.targets get the question; default all.').optional(),
  },
  { error: 'write proof: and who may decide below it' },
);

export const approvalsSection = z.record(name, approval);

export type ApprovalConfig = z.infer<typeof approval>;

/* Checks the scopes, names and proofs of approvals in belay.yaml. */

export function checkApprovals(configuration: Configuration, report: ReportIssue): void {
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

function checkProof(path: Path, { proof, signers }: ApprovalConfig, report: ReportIssue): void {
  if (proof === 'ssh' && signers === undefined)
    report([...path, 'proof'], "ssh needs signers: write signers: { file: PATH } with OpenSSH's allowed signers");
  if (proof !== 'ssh' && signers !== undefined)
    report([...path, 'signers'], 'only proof: ssh reads a file of signers: remove it, or write proof: ssh');
}

function checkNeed(path: Path, { need = 1, from, proof }: ApprovalConfig, report: ReportIssue): void {
  if (typeof proof === 'object' && need > 1)
    report([...path, 'need'], 'one job of GitHub approves: its environment says how many people have to review');
  if (from !== undefined && new Set(from).size < from.length)
    report([...path, 'from'], 'names someone twice: remove one');
  if (from !== undefined && need > from.length)
    report([...path, 'need'], `only ${from.length} may decide: name more in from:, or lower it`);
}

function checkWaves({ approvals = {}, rollouts = {} }: Configuration, report: ReportIssue): void {
  for (const [name, { waves = [] }] of Object.entries(rollouts)) {
    for (const [index, { approval }] of waves.entries()) {
      if (approval === undefined || ownEntry(approvals, approval) !== undefined) continue;
      const path = ['rollouts', name, 'waves', index, 'approval'];
      report(path, `there is no ${approval}: ${oneOf(approvals, 'approvals')}`);
    }
  }
}
