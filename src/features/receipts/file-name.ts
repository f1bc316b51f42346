/** The file name of a receipt. Pure. */
import type { Receipt } from './shapes.ts';

/** File systems allow 255 bytes. The id of the run keeps names apart that are cut. */
const MAX_ID_LENGTH = 200;

export const receiptFileName = ({ workflowId, runId }: Pick<Receipt, 'workflowId' | 'runId'>): string =>
  `${encodeURIComponent(workflowId).slice(0, MAX_ID_LENGTH)}.${runId}.json`;
