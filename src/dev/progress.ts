/** How far the build of the Temporal server is: one live line on a terminal, else a line now and then. */
import { clearLine, cursorTo } from 'node:readline';
import { PACKAGES_ABOUT, type BuildProgress } from './go-build.ts';

const LOG_PERIOD_MS = 20_000;

export function showBuild(stream: NodeJS.WriteStream): { show(progress: BuildProgress): void; end(): void } {
  let loggedMs = Date.now();
  let drawn = false;
  return {
    show(progress) {
      const line = buildLine(progress);
      if (stream.isTTY) {
        cursorTo(stream, 0);
        clearLine(stream, 0);
        stream.write(line);
        drawn = true;
      } else if (Date.now() - loggedMs >= LOG_PERIOD_MS) {
        stream.write(`${line}\n`);
        loggedMs = Date.now();
      }
    },
    end() {
      if (!drawn) return;
      cursorTo(stream, 0);
      clearLine(stream, 0);
    },
  };
}

function buildLine({ step, done }: BuildProgress): string {
  if (step === 'fetching') return `  fetching sources: ${done} modules`;
  return `  compiling: ${done} of about ${PACKAGES_ABOUT} packages`;
}
