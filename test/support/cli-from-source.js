/** The program `belay` from source, for a test that runs without a build. */
import '../../tools/typescript.js';

await import('../../src/cli.ts');
