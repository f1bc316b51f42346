/** How far the build of the Temporal server is: one live line on a terminal, else a line now and then. */
import { createLiveLines } from '../process/live-lines.ts';
import { PACKAGES_ABOUT, type BuildProgress } from './build-server.ts';

const LOG_PERIOD_MS = 20_000;

export function showBuild(stream: NodeJS.WriteStream): { show(progress: BuildProgress): void; end(): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  let loggedMs = Date.now();
  return {
    show(progress) {
      if (terminal !== null) return terminal.draw([buildLine(progress)]);
      if (Date.now() - loggedMs < LOG_PERIOD_MS) return;
      stream.write(`${buildLine(progress)}\n`);
      loggedMs = Date.now();
    },
    end: () => terminal?.clear(),
  };
}

function buildLine({ step, done }: BuildProgress): string {
  if (step === 'fetching') return `  fetching sources: ${done} modules`;
  return `  compiling: ${done} of about ${PACKAGES_ABOUT} packages`;
}
