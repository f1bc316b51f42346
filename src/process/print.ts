/**
 * The one way to stdout and stderr. Printed lines contain text from outside, such as a status, the reason for a
 * termination, or the id of a workflow. It must neither move the cursor nor look like a command to a CI runner.
 */
import { replaceUnprintable } from '../contract/safe-text.ts';
import { withOwnCommand } from './own-command.ts';

/** The colors that Belay uses itself. */
// eslint-disable-next-line no-control-regex -- terminal colors begin with a control character
const COLOR = /(\u001b\[(?:[0-9]|[1-4][0-9]|9[0-7])m)/;

export function print(lines: string | readonly string[]): void {
  printTo(process.stdout, lines);
}

export function printNote(lines: string | readonly string[]): void {
  printTo(process.stderr, lines);
}

/** Drops colors unless the stream is a terminal: libraries also color their text where `CI` or `FORCE_COLOR` is set. */
export function printTo(stream: NodeJS.WritableStream & { isTTY?: boolean }, lines: string | readonly string[]): void {
  const all = [lines].flat().flatMap((line) => line.split('\n'));
  const keepColors = stream.isTTY === true;
  if (all.length > 0) stream.write(`${all.map((line) => safeLine(line, keepColors)).join('\n')}\n`);
}

/** Every other part is a color, because the pattern has a group. */
function safeLine(line: string, keepColors: boolean): string {
  const parts = line.split(COLOR).map((part, index) => {
    if (index % 2 === 1) return keepColors ? part : '';
    return replaceUnprintable(part, ' ');
  });
  return withoutCommands(withOwnCommand(parts.join('')));
}

/**
 * GitHub runs a line that begins with `::` and, like other runners, takes `##[…`, `##vso[…` or `##teamcity[…` anywhere
 * in a line as a command.
 */
function withoutCommands(line: string): string {
  // eslint-disable-next-line no-control-regex -- colors may precede a command
  return line.replace(/^((?:\s|\u001b\[\d+m)*):(?=:)/, '$1: ').replace(/#(?=#)/g, '# ');
}

/**
 * Marks a line of a file, or the whole file, in GitHub's view of a pull request. Escaping keeps the text from being a
 * command itself.
 */
export function printAnnotation({ file, line }: { file: string; line: number | null }, message: string): void {
  const data = (text: string) => replaceUnprintable(text, ' ').replaceAll('%', '%25');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  process.stderr.write(`::error file=${property(file)}${line === null ? '' : `,line=${line}`}::${data(message)}\n`);
}

/** Returns one line of JSON, with everything escaped that a terminal or a CI runner would act on. */
export function safeJson(document: unknown): string {
  return escapedJson(JSON.stringify(document));
}

export function escapedJson(json: string): string {
  const escape = (text: string) =>
    [...text].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return replaceUnprintable(json, escape).replace(/#(?=#)/g, '\\u0023');
}
