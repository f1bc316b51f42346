/** Shows how the sites would be checked. Workers read their own belay.yaml; this command reads that of its machine. */
import { isApp, targetText } from '../../contract/target.ts';
import { commitText } from '../../contract/commit.ts';
import type { DryRunPart } from '../../cli/dry-run.ts';

/** Only the workers' file may have a report. */
const refused = (known: string) => `unless the workers know ${known} for it, the run would end with Usage, exit code 2`;

export const checksPart: DryRunPart = {
  name: 'checks',
  look({ runs, options }, { policy: { checkOf } }) {
    const { commit = null, noCheck } = options;
    const targets = runs.flatMap((run) => run.targets);
    const sites = targets
      .filter((it) => !isApp(it))
      .map(({ id }) => ({ siteId: id, check: checkOf(id)?.plan.name ?? null }));
    const unread = targets
      .filter((it) => noCheck !== undefined || isApp(it) || checkOf(it.id)?.plan.showsCommit !== true)
      .map((it) => targetText(it));
    const checked = noCheck === undefined ? sites.filter(({ check }) => check !== null) : [];
    const expected = commit === null ? '' : `, which has to show commit ${commitText(commit)}`;
    const none = noCheck === undefined ? 'no site has one' : 'left out, as asked';
    return Promise.resolve({
      value: { sites, commit, leftOut: noCheck !== undefined },
      lines: [
        ...checked.map(({ siteId, check }) => `checks: site ${siteId} by ${check}${expected}`),
        ...(checked.length === 0 ? [`checks: ${none}`] : []),
        ...(commit === null || unread.length === 0
          ? []
          : [
              `checks: nothing here reads the commit of ${unread.join(', ')}: ${refused(noCheck === undefined ? 'a check or a report' : 'a report')}`,
            ]),
      ],
    });
  },
};
