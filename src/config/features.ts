/**
 * What features add to belay.yaml. They read a section through the policy (policy.ts), through the configuration, or through
 * both.
 */
import { z } from 'zod';
import { approvalsSection, checkApprovals } from '../features/approvals/config.ts';
import { events } from '../features/events/config.ts';
import type { Configuration } from './file/file-schema.ts';
import { checkFreezes, freezesSection, windows } from '../features/freezes/config.ts';
import { checkGates, gates } from '../features/gates/config.ts';
import { checkReports, notify } from '../features/notifications/config.ts';
import { checkInventory, fleets } from './file/fleets.ts';
import { checkRollouts, rollouts } from '../features/rollouts/config.ts';
import { checkSchedules, schedules } from '../features/schedules/config.ts';
import type { ReportIssue } from './file/schema-values.ts';
import { checkSites, checks, sites } from '../features/site-checks/config.ts';

/** The keys at the top of the file, in the order of its JSON Schema. */
export const SECTIONS = {
  events: events.optional(),
  notify: notify.optional(),
  fleets: fleets.describe('Which sites belong to which server. Workers hold every run to it.').optional(),
  inventory: z
    .literal('strict', { error: 'write strict, or remove it' })
    .describe('strict: workers refuse every server, site and app that no fleet has.')
    .optional(),
  rollouts: rollouts.describe('How a fleet is backed up and deployed.').optional(),
  sites: sites
    .describe('What is known of sites, by their ids: where they answer, and how they are checked.')
    .optional(),
  checks: checks.describe('What a site has to do after its deployment, by names you choose.').optional(),
  freezes: freezesSection.describe('When nothing is deployed.').optional(),
  windows: windows.describe('When deployments may begin, and at no other time.').optional(),
  approvals: approvalsSection.describe('Who has to approve a deployment before it begins.').optional(),
  gates: gates.describe('What is measured between the waves of a rollout, by names you choose.').optional(),
  schedules: schedules.describe('What to start automatically, and when.').optional(),
};

/** Contradictions between keys, once each key is right. The first one that is found is the message. */
export const CONTRADICTIONS: readonly ((configuration: Configuration, report: ReportIssue) => void)[] = [
  checkInventory,
  checkRollouts,
  checkSchedules,
  checkFreezes,
  checkApprovals,
  checkSites,
  checkGates,
  checkReports,
];
