/** With --json stdout holds exactly one document. */

let printed = false;

export const isDocumentPrinted = (): boolean => printed;

/** Whatever comes after the first one goes to stderr. */
export function printDocument(document: object): void {
  const stream = printed ? process.stderr : process.stdout;
  printed = true;
  stream.write(`${JSON.stringify(document)}\n`);
}
