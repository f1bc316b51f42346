/** Reads the workflows of .github/workflows and the actions that this repository offers. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT } from './readme.ts';

interface Step {
  id?: string;
  uses?: string;
  run?: string;
  shell?: string;
  env?: Record<string, string>;
  with?: Record<string, string | boolean>;
}

export interface Job {
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  steps: Step[];
}

export interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const FOLDER = new URL('.github/workflows/', ROOT);

export const WORKFLOWS = Object.fromEntries(
  readdirSync(FOLDER).map((name) => [name, parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Workflow]),
);
