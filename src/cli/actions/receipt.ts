/** What `belay receipt` does: it prints, checks and keeps receipts. */
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { parseAllowedSigners } from '../../approvals/allowed-signers.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import type { Receipt } from '../../contract/receipt.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { printJson } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import { receiptFileName } from '../../receipts/file-name.ts';
import { verifyReceipt } from '../../receipts/verify.ts';
import type { Belay } from '../../starter.ts';
import { withBelay } from '../connection/open-belay.ts';
import { EXIT } from '../../contract/results/exit-codes.ts';

export interface ReceiptOptions {
  runId?: string;
  verify?: string;
  signers?: string;
  /** Milliseconds. */
  since?: number;
  to?: string;
  json?: boolean;
}

export function receipt(workflowId: string | undefined, options: ReceiptOptions): Promise<void> {
  const { verify: file, since, to, signers, runId } = options;
  const asked = [workflowId, file, since].filter((it) => it !== undefined);
  if (asked.length !== 1)
    throw new BelayError('Usage', 'give the id of a run or rollout, or --verify FILE, or --since with --to');
  if ((since === undefined) !== (to === undefined)) throw new BelayError('Usage', '--since and --to belong together');
  if (signers !== undefined && file === undefined) throw new BelayError('Usage', '--signers requires --verify');
  if (file !== undefined) return verify(file, options);
  if (since !== undefined && to !== undefined) return keepAll(since, to, options);
  return withBelay(async (belay) => printJson(await belay.receipts.get(workflowId ?? '', runId)));
}

async function verify(file: string, { signers, json }: ReceiptOptions): Promise<void> {
  const known = signers === undefined ? null : parseAllowedSigners(await text(signers));
  const document = parsed(await text(file));
  const { approvals, rejections, problems } = verifyReceipt(document, known);
  const isGood = problems.length === 0;
  process.exitCode = isGood ? EXIT.completed : EXIT.failed;
  const hash = isGood ? (document as Receipt).hash : null;
  if (json === true)
    return printJson({ schemaVersion: SCHEMA_VERSION, isGood, hash, approvals, rejections, problems, error: null });
  print([
    ...approvals.map(({ by, proof }) => `approved by ${plainText(by)}: ${proof}`),
    ...rejections.map(({ by, proof }) => `rejected by ${plainText(by)}: ${proof}`),
    ...problems.map((it) => `problem: ${it}`),
    isGood ? `good: no entry was changed; its hash is ${hash}` : 'not good: do not rely on it',
  ]);
}

async function text(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BelayError('Usage', `${file} cannot be read (${error.code ?? error.message})`);
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const AT_ONCE = { concurrency: 4 };

async function keepAll(since: number, folder: string, { json }: ReceiptOptions): Promise<void> {
  await mkdir(folder, { recursive: true });
  const kept = await withBelay((belay) => writeAll(belay, new Date(Date.now() - since).toISOString(), folder));
  const [written, there] = [kept.filter(({ isNew }) => isNew), kept.filter(({ isNew }) => !isNew)];
  if (json === true) {
    const [files, unchanged] = [written, there].map((them) => them.map(({ file }) => file));
    return printJson({ schemaVersion: SCHEMA_VERSION, files, unchanged, error: null });
  }
  print(written.map(({ file }) => file));
  printNote(`${written.length} receipts written, ${there.length} were there already`);
}

async function writeAll(belay: Belay, since: string, folder: string): Promise<{ file: string; isNew: boolean }[]> {
  return pMap(
    belay.receipts.closedSince(since),
    async ({ workflowId, runId }) => {
      const file = join(folder, receiptFileName({ workflowId, runId }));
      if (
        await access(file).then(
          () => true,
          () => false,
        )
      )
        return { file, isNew: false };
      const document = `${JSON.stringify(await belay.receipts.get(workflowId, runId), null, 2)}\n`;
      // A reader never sees half of it.
      await writeFile(`${file}.part`, document);
      await rename(`${file}.part`, file);
      return { file, isNew: true };
    },
    AT_ONCE,
  );
}
