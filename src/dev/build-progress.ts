/** Shows the progress of the Temporal server build: one live line on a terminal, otherwise a line now and then. */
import { createLiveLines } from '../process/live-lines.ts';
import { printTo } from '../process/print.ts';
import { PACKAGES_ABOUT, type BuildProgress } from './build-server.ts';
import { TIMING } from '../contract/timing.ts';

export function showBuild(stream: NodeJS.WriteStream): { show(progress: BuildProgress): void; end(): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  let loggedMs = Date.now();
  return {
    show(progress) {
      if (terminal !== null) return terminal.draw([buildLine(progress)]);
      if (Date.now() - loggedMs < TIMING.dev.buildProgressMs) return;
      printTo(stream, [buildLine(progress)]);
      loggedMs = Date.now();
    },
    end: () => terminal?.clear(),
  };
}

function buildLine({ step, done }: BuildProgress): string {
  if (step === 'fetching') return `  fetching sources: ${done} modules`;
  return `  compiling: ${done} of about ${PACKAGES_ABOUT} packages`;
}
