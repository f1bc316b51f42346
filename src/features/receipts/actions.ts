/** `belay receipt` prints, checks and keeps receipts. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import type { CheckAnswers, Receipt } from './shapes.ts';
import { unreadableFile } from '../../config/environment/variables.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import { parsedJson } from '../../contract/plain-object.ts';
import { messageOf, plainText } from '../../contract/safe-text.ts';
import { counted } from '../../contract/results.ts';
import { printAnswer, printDocument, printJson } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import { verifyReceipt } from './actions-verify.ts';
import type { Belay } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';

export interface ReceiptOptions {
  runId?: string;
  verify?: string;
  signers?: string;
  /** Milliseconds. */
  since?: number;
  to?: string;
  json?: boolean;
}

/** @param file the signers of this machine; null without */
export type AnswersBy = (file: { name: string; text: string } | null) => CheckAnswers;

export function receipt(
  workflowId: string | undefined,
  options: ReceiptOptions,
  answersBy: () => Promise<AnswersBy>,
): Promise<void> {
  const { verify: file, since, to, signers, runId } = options;
  const asked = [workflowId, file, since].filter((it) => it !== undefined);
  if (asked.length !== 1)
    throw new BelayError('Usage', 'give the id of a run or rollout, or --verify FILE, or --since with --to');
  if ((since === undefined) !== (to === undefined)) throw new BelayError('Usage', '--since and --to belong together');
  if (signers !== undefined && file === undefined) throw new BelayError('Usage', '--signers requires --verify');
  if (file !== undefined) return verify(file, options, answersBy);
  if (since !== undefined && to !== undefined) return keepAll(since, to, options);
  return withBelay(async (belay) => printJson(await belay.receipts.get(workflowId ?? '', runId)));
}

async function verify(
  file: string,
  { signers, json }: ReceiptOptions,
  answersBy: () => Promise<AnswersBy>,
): Promise<void> {
  const known = signers === undefined ? null : { name: signers, text: await readText(signers) };
  const checkAnswers = (await answersBy())(known);
  const document = parsedJson(await readText(file));
  const { approvals, rejections, problems } = verifyReceipt(document, checkAnswers);
  const isGood = problems.length === 0;
  process.exitCode = isGood ? EXIT.completed : EXIT.failed;
  const hash = isGood ? (document as Receipt).hash : null;
  printAnswer(json, { isGood, hash, approvals, rejections, problems }, [
    ...approvals.map(({ by, proof }) => `approved by ${plainText(by)}: ${proof}`),
    ...rejections.map(({ by, proof }) => `rejected by ${plainText(by)}: ${proof}`),
    ...problems.map((it) => `problem: ${it}`),
    isGood ? `good: no entry was changed; its hash is ${hash}` : 'not good: do not rely on it',
  ]);
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BelayError('Usage', unreadableFile(file, error));
  });
}

const AT_ONCE = { concurrency: 4 };

async function keepAll(since: number, folder: string, { json }: ReceiptOptions): Promise<void> {
  await mkdir(folder, { recursive: true }).catch(cannotWrite(folder));
  const kept = await withBelay((belay) => writeAll(belay, new Date(Date.now() - since).toISOString(), folder));
  const files = kept.flatMap((it) => ('file' in it && it.isNew ? [it.file] : []));
  const unchanged = kept.flatMap((it) => ('file' in it && !it.isNew ? [it.file] : []));
  const failed = kept.flatMap((it) => ('message' in it ? [it] : []));
  if (failed.length > 0) process.exitCode = EXIT.failed;
  if (json === true) return printDocument({ files, unchanged, failed });
  print(files);
  for (const { workflowId, runId, message } of failed)
    printNote(`no receipt of ${plainText(workflowId)} (run ${runId}): ${message}`);
  const failures = failed.length === 0 ? '' : `, ${failed.length} failed`;
  printNote(`${counted(files.length, 'receipt')} written, ${unchanged.length} were there already${failures}`);
}

type Kept = { file: string; isNew: boolean } | { workflowId: string; runId: string; message: string };

/** A run without a receipt must not stop the others from being kept, because Temporal deletes them. */
async function writeAll(belay: Belay, since: string, folder: string): Promise<Kept[]> {
  return pMap(
    belay.receipts.closedSince(since),
    async ({ workflowId, runId }) => {
      const file = join(folder, receiptFileName({ workflowId, runId }));
      if (existsSync(file)) return { file, isNew: false };
      const made = await receiptOf(belay, workflowId, runId);
      if (typeof made === 'string') return { workflowId, runId, message: made };
      const document = `${JSON.stringify(made, null, 2)}\n`;
      // Renaming keeps readers from seeing half a file.
      await writeFile(`${file}.part`, document).catch(cannotWrite(file));
      await rename(`${file}.part`, file).catch(cannotWrite(file));
      return { file, isNew: true };
    },
    AT_ONCE,
  );
}

const cannotWrite = (path: string) => (error: NodeJS.ErrnoException) => {
  const problem = `${path} cannot be written (${error.code ?? error.message})`;
  throw new BelayError('Usage', `${problem}: give --to a folder with free space that this user may write to`);
};

/**
 * @returns what went wrong, if there is no receipt. @throws BelayError if Temporal is away, which fails all receipts
 */
async function receiptOf(belay: Belay, workflowId: string, runId: string): Promise<Receipt | string> {
  try {
    return await belay.receipts.get(workflowId, runId);
  } catch (error) {
    if (error instanceof BelayError && error.type === 'TemporalUnreachable') throw error;
    return plainText(messageOf(error));
  }
}

/** File systems allow 255 bytes. The run id distinguishes names that are cut. */
const MAX_ID_LENGTH = 200;

export const receiptFileName = ({ workflowId, runId }: Pick<Receipt, 'workflowId' | 'runId'>): string =>
  `${encodeURIComponent(workflowId).slice(0, MAX_ID_LENGTH)}.${runId}.json`;
