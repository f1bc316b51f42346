/** The kept histories: where they are, and how they are stored. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
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

/** A line of an archive. */
interface Stored {
  /** `deploySite.conflict` */
  name: string;
  workflowId: string;
  history: unknown;
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** An archive for each version that recorded some: a line of JSON for each history, in the order of their names. */
const ENDING = '.jsonl.br';
/** Histories of one version are much alike: the window has to hold several of them. */
const SMALL = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
const AS_TEXT = { enums: String, longs: String, bytes: String };

export function readHistories(): KeptHistory[] {
  const versions = readdirSync(FOLDER).filter((name) => name.endsWith(ENDING));
  return versions
    .map((name) => name.slice(0, -ENDING.length))
    .flatMap((version) =>
      readArchive(version).map(({ name, workflowId, history }) => ({
        ...{ name: `${version}/${name}`, type: name.slice(0, name.indexOf('.')), workflowId },
        history: History.fromObject(history as Record<string, unknown>),
      })),
    );
}

const archiveOf = (version: string) => join(FOLDER, `${version}${ENDING}`);

function readArchive(version: string): Stored[] {
  const lines = brotliDecompressSync(readFileSync(archiveOf(version))).toString();
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Stored);
}

/**
 * Writes histories of this version.
 *
 * @param histories by their names, such as `deploySite.conflict`
 * @param isAll whether they replace all others of this version
 */
export function writeHistories(histories: ReadonlyMap<string, Recorded>, isAll: boolean): void {
  const before = isAll || !existsSync(archiveOf(VERSION)) ? [] : readArchive(VERSION);
  const kept = new Map(before.map((it) => [it.name, it]));
  for (const [name, { workflowId, history }] of histories)
    kept.set(name, { name, workflowId, history: anonymous(toPlain(history)) });
  const sorted = [...kept.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(archiveOf(VERSION), brotliCompressSync(sorted.map(toText).join(''), { params: SMALL }));
}

/** Keeps one outside the versions, as it is. */
export function writeHistory(file: string, { workflowId, history }: Recorded): void {
  writeFileSync(file, toText({ workflowId, history: toPlain(history) }));
}

const toPlain = (history: temporal.api.history.v1.IHistory) => History.toObject(History.fromObject(history), AS_TEXT);
const toText = (stored: object) => `${JSON.stringify(stored)}\n`;
