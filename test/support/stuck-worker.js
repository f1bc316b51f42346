/** A worker whose policy never comes, so the activities that ask for it never end. Argument: where it works, as JSON. */
import process from 'node:process';
import '../../tools/typescript.js';

await import('./timing/use-hanging.ts');
const { addWorker } = await import('./world.ts');
const { place, taskQueue, serviceUrl } = JSON.parse(process.argv[2]);
const worker = await addWorker(place, taskQueue, serviceUrl, {}, { policy: () => new Promise(() => {}) });
process.stdout.write('polling\n');
process.once('SIGTERM', () => {
  worker.stop().then(
    () => process.exit(0),
    (error) => {
      process.stdout.write(`${error.type}: ${error.message}\n`);
      process.exit(7);
    },
  );
});
