/** One thing the doctor looks at. */

export interface Finding {
  /** `attention` works, but not as it should. */
  state: 'ok' | 'attention' | 'failed' | 'skipped';
  message: string;
  remedy?: string;
  /** Mends it. @returns what was done */
  fix?: () => Promise<string>;
}

export interface Check {
  name: string;
  look: () => Promise<Finding>;
}

export interface Report extends Omit<Finding, 'fix'> {
  name: string;
}

/** Looks at everything in turn; a check that throws has failed. @param fix mend what can be mended */
export async function examine(checks: Check[], fix: boolean, onReport: (report: Report) => void): Promise<Report[]> {
  const reports: Report[] = [];
  for (const { name, look } of checks) {
    const { fix: mend, ...finding } = await lookOnce(look, fix);
    const fixable = mend === undefined || finding.remedy === undefined;
    const report: Report = { name, ...finding };
    if (!fixable) report.remedy = `${finding.remedy}, or belay doctor --fix`;
    reports.push(report);
    onReport(report);
  }
  return reports;
}

async function lookOnce(look: Check['look'], fix: boolean): Promise<Finding> {
  try {
    const finding = await look();
    if (!fix || finding.fix === undefined) return finding;
    return { state: 'ok', message: `${finding.message}: ${await finding.fix()}` };
  } catch (error) {
    return { state: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
