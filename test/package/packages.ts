/** The packages as their users install them. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeBinary } from '../../tools/node-binary.ts';
import { writePackages } from '../../tools/packages.ts';
import { ROOT } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';

const execute = promisify(execFile);

export const BIN = fileURLToPath(new URL('node_modules/.bin', ROOT));

let written: ReturnType<typeof writePackages> | undefined;
/** Written once for all tests of a process. */
export const packages = () => (written ??= writePackages());

/** Every dependency has to support this Node, as it does for those whose npm is strict about it. */
const INSTALL = ['install', '--engine-strict', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];

/** A project with only the package and the types of Node. */
export async function projectWith(tarball: string): Promise<string> {
  const project = await tempFolder();
  writeFileSync(join(project, 'package.json'), '{ "name": "release", "private": true, "type": "module" }');
  const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  await run(project, 'npm', [...INSTALL, tarball, `@types/node@${devDependencies['@types/node']}`]);
  return project;
}

/** Whether npm would install what the project has on the Node that is first in the path. */
export const installable = (project: string, path: string) =>
  run(project, 'npm', [...INSTALL, '--dry-run'], { PATH: path });

/** @throws AssertionError with what the program printed */
export async function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}) {
  try {
    return await execute(program, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

/** @returns the path that finds it first. @throws Error if there is none for this machine */
export function pathWithNode(major: number): string {
  const isThis = process.versions.node.startsWith(`${major}.`);
  return isThis ? process.env.PATH! : `${nodeBinary(String(major))}${delimiter}${process.env.PATH}`;
}
