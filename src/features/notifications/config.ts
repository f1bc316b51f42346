/** Whom belay.yaml notifies. Addresses are secrets, so belay.yaml names only where they are kept. */
import { z } from 'zod';
import { checkScope, scope } from '../../config/file/scope.ts';
import { name, type ReportIssue } from '../../config/file/schema-values.ts';
import { NO_PLACE, secretPlace } from '../../config/file/request-schema.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import type { Places } from '../../config/policy.ts';
import { isRecord } from '../../contract/plain-object.ts';
import type { PlannedOperation } from '../../contract/target.ts';

const PLACES = secretPlace.options.map(({ shape }) => shape);

const chat = z
  .enum(['slack', 'teams', 'discord'])
  .describe('What listens there: Slack, a workflow of Teams, or a webhook of Discord; default slack.')
  .optional();
const webhook = z.literal('webhook');
const secret = secretPlace.describe('Of Standard Webhooks, whsec_ and base64: every message is signed with it.');

const channel = z.union(
  [
    ...PLACES.map((it) => z.strictObject({ kind: chat, ...it })),
    ...PLACES.map((it) => z.strictObject({ kind: webhook, ...it, secret })),
  ],
  {
    error: ({ input }) =>
      isRecordWithKind(input) ? 'write kind: slack, teams, discord, or webhook with secret:' : NO_PLACE,
  },
);

const isRecordWithKind = (input: unknown): boolean => isRecord(input) && 'kind' in input;

const heartbeat = z.union(
  PLACES.map((it) =>
    z.strictObject({
      kind: z
        .literal('healthchecks')
        .describe('It gets the start and every end; default only a POST when completed.')
        .optional(),
      ...it,
    }),
  ),
  { error: ({ input }) => (isRecordWithKind(input) ? 'write kind: healthchecks, or no kind' : NO_PLACE) },
);

const apiUrl = z.string().trim().min(1).describe('Of its API, if it is not the public one. The token goes there only.');
const token = secretPlace.describe('May write commit statuses, or deployments.');

const ofGitlab = {
  kind: z.literal('gitlab'),
  project: z.union([z.string().trim().min(1), z.int().positive()]).describe('Its path or its number.'),
  token,
  for: scope.optional(),
  url: apiUrl.optional(),
};

const gitlab = z.discriminatedUnion(
  'as',
  [
    z.strictObject({
      ...ofGitlab,
      as: z.literal('status').describe('A status of the commit, the default.').optional(),
    }),
    z.strictObject({
      ...ofGitlab,
      as: z.literal('deployment'),
      environment: z.string().trim().min(1).describe('Of the project. GitLab makes it if it is missing.'),
      branch: z.string().trim().min(1).describe('That the service deploys from.'),
    }),
  ],
  { error: 'write as: status, or as: deployment with environment: and branch:' },
);

const report = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('github'),
      repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/, { error: 'write owner/name' }),
      token,
      for: scope.optional(),
      as: z
        .enum(['status', 'deployment'])
        .describe("A status of the commit (default), or deployments, which start the repository's workflows on them.")
        .optional(),
      url: apiUrl.optional(),
    }),
    gitlab,
  ],
  { error: 'write kind: github or gitlab' },
);

export const notify = z.strictObject({
  on: z
    .enum(['failed', 'all'])
    .describe('Which runs to report: all, or failed (default), which means every outcome except completed.')
    .optional(),
  targets: z.record(name, channel).describe('Addresses that get the notifications, by names you choose.').optional(),
  heartbeats: z.record(name, heartbeat).describe('Addresses for --heartbeat, by names you choose.').optional(),
  reports: z
    .record(name, report)
    .describe('Repositories that get the state of runs with a full --commit, by names you choose.')
    .optional(),
});

export function checkReports(configuration: Configuration, report: ReportIssue): void {
  for (const [name, { for: scope }] of Object.entries(configuration.notify?.reports ?? {}))
    checkScope(['notify', 'reports', name, 'for'], scope, configuration, report);
}

export function reportsPolicy({ notify }: Configuration, { fit }: Places) {
  const reports = Object.entries(notify?.reports ?? {});
  return {
    /** Names of `notify.reports`. */
    reportsFor: (operation: PlannedOperation) =>
      reports.filter(([, { for: scope = {} }]) => fit(scope, operation)).map(([name]) => name),
  };
}
