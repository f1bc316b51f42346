/** Plays docs/how-to/docker-compose.md: its commands, line by line, in the order and with the text of the page. */
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { read } from '../support/compose.ts';
import type { Engine } from './engine.ts';

const DOCUMENT = 'docs/how-to/docker-compose.md';
/** What a reader replaces. */
const PLACEHOLDER = 'https://…';

interface Played {
  line: string;
  code: number | null;
  output: string;
}

export interface HowTo {
  /** Runs the next block of a section. @throws if a line fails */
  follow(section: string): Promise<void>;
  /** Runs the next block of a section until a line fails. @returns that line */
  followToFailure(section: string): Promise<Played>;
  /** Runs the last block of a section once more. */
  repeat(section: string): Promise<void>;
  /** Runs a line that is on no page. @throws if it fails */
  shell(line: string): Promise<string>;
  /** The lines that were not run. */
  readonly left: string[];
}

interface Options {
  /** The checkout in which the reader works. */
  folder: string;
  engine: Pick<Engine, 'env' | 'inside'>;
  serviceUrl: string;
  /** Holds what the reader writes with an editor, in files of the same names. */
  texts: string;
  say: (line: string) => void;
}

/** The commands of each section, in blocks. */
function blocksOf(markdown: string): Map<string, string[][]> {
  const sections = new Map<string, string[][]>();
  for (const text of markdown.split(/^## /m).slice(1)) {
    const blocks = [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
      commandsOf(block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')),
    );
    sections.set(text.slice(0, text.indexOf('\n')), blocks);
  }
  return sections;
}

/** A command has one line, or ends with a here-document. */
const commandsOf = (block: string) =>
  [...block.matchAll(/^.*<<(\w+)\n[\s\S]*?^\1$|^.+$/gm)].map(([command]) => command);

export async function openHowTo({ folder, engine, serviceUrl, texts, say }: Options): Promise<HowTo> {
  const blocks = blocksOf(read(DOCUMENT));
  const played = new Map<string, number>();
  const programs = join(folder, '../programs');
  await mkdir(programs, { recursive: true });
  // An editor that writes into the same file, and `sudo` of somebody who is root already.
  const script = (line: string) => `#!/bin/sh\n${line}\n`;
  await writeFile(join(programs, 'editor'), script(`cat "${texts}/$(basename "$1")" >"$1"`), { mode: 0o755 });
  await writeFile(join(programs, 'sudo'), script('exec "$@"'), { mode: 0o755 });
  const options = { cwd: folder, env: { ...engine.env, PATH: [programs, engine.env.PATH].join(delimiter) } };

  async function play(line: string): Promise<Played> {
    const beganMs = Date.now();
    const { code, output } = await engine.inside(
      ['bash', '-euo', 'pipefail', '-c', line.replace(PLACEHOLDER, serviceUrl)],
      options,
    );
    say(
      `${code === 0 ? '' : `exit ${code} after `}${Math.round((Date.now() - beganMs) / 1_000)} s: ${line.split('\n')[0]}`,
    );
    return { line, code, output };
  }

  async function followToFailure(section: string): Promise<Played> {
    const index = played.get(section) ?? 0;
    const block = blocks.get(section)?.[index];
    if (block === undefined) throw new Error(`${DOCUMENT}: "${section}" has no block ${index + 1}`);
    played.set(section, index + 1);
    let last: Played | undefined;
    for (const line of block) {
      last = await play(line);
      if (last.code !== 0) break;
    }
    return last!;
  }

  const succeed = ({ line, code, output }: Played) => {
    if (code === 0) return output;
    throw new Error(`exit ${code}: ${line}\n${output.split('\n').slice(-60).join('\n')}`);
  };

  return {
    followToFailure,
    follow: async (section) => void succeed(await followToFailure(section)),
    async repeat(section: string) {
      played.set(section, played.get(section)! - 1);
      succeed(await followToFailure(section));
    },
    shell: async (line) => succeed(await play(line)),
    get left() {
      return [...blocks].flatMap(([section, all]) => all.slice(played.get(section) ?? 0).flat());
    },
  };
}
