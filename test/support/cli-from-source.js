/** The program `belay` from source, for a test that runs without a build. */
import process from 'node:process';
import '../../tools/typescript.js';

// `belay dev` starts a process of its own source.
process.execArgv.push('--import', new URL('../../tools/typescript.js', import.meta.url).href);
await import('../../src/cli.ts');
