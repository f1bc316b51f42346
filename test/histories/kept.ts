/** The kept histories: where they are, and how they are stored. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import type { temporal } from '@temporalio/proto';
import { anonymous } from './anonymous.ts';
import { VERSION } from '../../src/process/version.ts';

const { History } = proto.temporal.api.history.v1;

export interface Recorded {
  workflowId: string;
  history: temporal.api.history.v1.IHistory;
}

export interface KeptHistory extends Recorded {
  /** `0.2.0/deploySite.conflict` */
  name: string;
  type: string;
}

interface Stored {
  workflowId: string;
  history: unknown;
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ENDING = '.json';
const AS_TEXT = { enums: String, longs: String, bytes: String };

/** A folder for each version that recorded some. */
export function readHistories(): KeptHistory[] {
  const versions = readdirSync(FOLDER).filter((name) => /^\d/.test(name));
  return versions.flatMap((version) =>
    readdirSync(join(FOLDER, version))
      .sort()
      .map((file) => read(version, file)),
  );
}

function read(version: string, file: string): KeptHistory {
  const { workflowId, history } = JSON.parse(readFileSync(join(FOLDER, version, file), 'utf8')) as Stored;
  const type = file.slice(0, file.indexOf('.'));
  return {
    name: `${version}/${file.slice(0, -ENDING.length)}`,
    type,
    workflowId,
    history: History.fromObject(history as Record<string, unknown>),
  };
}

/**
 * Writes histories of this version.
 *
 * @param histories by their names, such as `deploySite.conflict`
 * @param isAll whether they replace all others of this version
 */
export function writeHistories(histories: ReadonlyMap<string, Recorded>, isAll: boolean): void {
  const folder = join(FOLDER, VERSION);
  if (isAll) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, { workflowId, history }] of histories) {
    writeFileSync(join(folder, `${name}${ENDING}`), toText({ workflowId, history: anonymous(toPlain(history)) }));
  }
}

/** Keeps one outside the versions, as it is. */
export function writeHistory(file: string, { workflowId, history }: Recorded): void {
  writeFileSync(file, toText({ workflowId, history: toPlain(history) }));
}

const toPlain = (history: temporal.api.history.v1.IHistory) => History.toObject(History.fromObject(history), AS_TEXT);
const toText = (stored: Stored) => `${JSON.stringify(stored)}\n`;
