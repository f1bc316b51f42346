/** Checks the scopes of reports in belay.yaml. */
import type { Configuration } from '../../config/file/file-schema.ts';
import { checkScope } from '../freezes/check-freezes.ts';
import type { Report } from '../../config/file/config-issue.ts';

export function checkReports(configuration: Configuration, report: Report): void {
  for (const [name, { for: scope }] of Object.entries(configuration.notify?.reports ?? {}))
    checkScope(['notify', 'reports', name, 'for'], scope, configuration, report);
}
