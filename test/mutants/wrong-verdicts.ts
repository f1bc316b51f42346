/** Answers that look like proof, each taken for one. */
import { change, sim, type TestedMutant, unit } from './mutant.ts';

const VERDICT = 'rules/verdict.ts';
const IDS = 'rules/verdict.ts';
const NEVER_DEPLOYED = 'rules/never-deployed.ts';
const SITE_CHECK = 'features/site-checks/rules.ts';

export const WRONG_VERDICTS: TestedMutant[] = [
  {
    rule: "the inventory is the caller's",
    changes: [change('activities/fact.ts', 'if (refusal !== null) return refusal;', '')],
    test: sim('rules/runs/inventory', 'refuses a site that it has on another server'),
  },
  {
    rule: 'the last option wins',
    changes: [change('cli/options.ts', 'isGiven = true;', '')],
    test: unit('repeated-options', 'is one JSON document of type Usage with --json'),
  },
  {
    rule: 'one good read of a site is enough',
    changes: [change(SITE_CHECK, 'seen.goodInARow >= aim.inARow', 'seen.goodInARow >= 1')],
    test: sim('rules/runs/checks', 'fails a site that is good and bad in turn'),
  },
  {
    rule: 'a commit that the site showed before the request identifies the deployment',
    changes: [change(SITE_CHECK, 'read.commit === null || isSameCommit(before, read.commit)', 'read.commit === null')],
    test: sim('rules/runs/checks', 'gives no evidence if the site showed it before the request'),
  },
  {
    rule: 'a site that no worker reaches is broken by its deployment',
    changes: [change(SITE_CHECK, 'counts.nothing === reads && !answeredBefore', 'false')],
    test: sim('rules/runs/checks', 'leaves a site unknown that no worker reaches'),
  },
  {
    rule: 'a page decides',
    changes: [
      change(
        VERDICT,
        'evidenceFor(context, seen, reading, answeredMs);',
        'evidenceFor(context, seen, reading, answeredMs) ?? shownBySite;',
      ),
    ],
    test: sim('rules/runs/checks', 'does not prove the failed status of before'),
  },
  {
    rule: 'a run ends before the page that its minimum evidence asks for',
    changes: [change('workflows/operation/await-verdict.ts', 'mayProve ? null', 'false ? null')],
    test: sim('rules/runs/checks', 'is awaited as long as the check has tries if --min-evidence is identity'),
  },
  {
    rule: 'a page says that the failed status of before is ours',
    changes: [change(VERDICT, " || (ofStatus === 'settled' && state === 'failed')", '')],
    test: unit('verdict', 'says nothing of the failed status of before'),
  },
  {
    rule: 'the check after a transition is no evidence',
    changes: [change('features/site-checks/check.ts', 'if (isVerdict && result.evidence !== null)', 'if (!isVerdict)')],
    test: sim('rules/runs/checks', 'is named as the evidence of a transition, too'),
  },
  {
    rule: 'an old id ends a wait',
    changes: [change(IDS, "if (compared.length > 0) return 'another';", "if (compared.length > 0) return 'open';")],
    test: sim('rules/verdicts/contradictions', 'a replica that flips back ends no wait if'),
  },
  {
    rule: 'the id of before settles',
    changes: [change(IDS, 'if (kept.length > 0) return hasLeft', 'if (kept.length > 9) return hasLeft')],
    test: sim('rules/verdicts/contradictions', 'an id that keeps the final word of before to the end is unknown'),
  },
  {
    rule: 'a constant id blocks every verdict',
    changes: [
      change(
        IDS,
        "return hasLeft && !kept.some((field) => seen.moved.includes(field)) ? 'kept' : 'before';",
        "return 'before';",
      ),
    ],
    test: sim('rules/verdicts/contradictions', 'a constant id blocks no verdict'),
  },
  {
    rule: 'what a replica that lagged showed stays a transition',
    changes: [change(VERDICT, 'seen.kept !== null && ids.moved.length > seen.ids.moved.length', 'false')],
    test: unit('verdict', 'what followed from an id of before is forgotten'),
  },
  {
    rule: 'a third id is ours at once',
    changes: [change(IDS, "!isEmpty(ids) ? 'third' : 'open'", "!isEmpty(ids) ? 'open' : 'open'")],
    test: sim('rules/verdicts/contradictions', 'a replica that shows the deployment before the last one ends no wait'),
  },
  {
    rule: 'a status under the id of before is a trace',
    changes: [change(VERDICT, "if (!hasNewId && (standing === 'before' || standing === 'kept')) return null;", '')],
    test: sim('rules/verdicts/contradictions', 'is neither reconciled nor sent again if the status changes'),
  },
  {
    rule: 'a request in doubt leaves no trace if the word is that of before',
    changes: [change(VERDICT, 'if (!hasNewId && isSame)', 'if (isSame)')],
    test: sim('rules/verdicts/contradictions', 'is reconciled by an id that was not there before'),
  },
  {
    rule: 'an id that the baseline had not shown is a new deployment',
    changes: [change(VERDICT, "isAppearedIdAlone(context, reading) ? 'appeared' : ", '')],
    test: sim('rules/verdicts/contradictions', 'is neither reconciled nor sent again if an id appears'),
  },
  {
    rule: 'an id that the baseline had not shown identifies the deployment',
    changes: [change(VERDICT, 'triggers.length > 0 && isAppearedIdAlone(context, reading)', 'false')],
    test: sim('rules/verdicts/contradictions', 'does not replace one that was in progress'),
  },
  {
    rule: 'an id that differs in each answer is a trace',
    changes: [change(VERDICT, "isSame && !isAgain ? 'once' : null", 'null')],
    test: sim('rules/verdicts/contradictions', 'is neither reconciled nor sent again if'),
  },
  {
    rule: 'a change that was taken back is a trace once it is shown again',
    changes: [change(VERDICT, "before?.doubt === 'taken_back' ? 'taken_back' : doubtOfIds", 'doubtOfIds')],
    test: sim('rules/verdicts/evidence', 'also if it is shown again'),
  },
  {
    rule: 'an answer that has lost the id is that of our deployment',
    changes: [change(VERDICT, 'return hasLost && ', 'return false && ')],
    test: sim('rules/verdicts/contradictions', 'an answer that has lost the id, in the word of before'),
  },
  {
    rule: 'only the baseline is from before the request',
    changes: [change('workflows/operation/deploy-site.ts', 'baseline ?? null, earlierAnswers)', 'baseline ?? null)')],
    test: sim('rules/verdicts/contradictions', 'what the run read when it was admitted is not ours'),
  },
  {
    rule: 'a request is sent again beside the deployment of another',
    changes: [change('rules/resend.ts', 'if (seen.foreign) return', 'if (false) return')],
    test: sim('rules/verdicts/contradictions', 'is neither reconciled nor sent again if only a push from before it'),
  },
  {
    rule: 'the pool keeps answers with another id',
    changes: [
      change('rules/poll-state.ts', ' || !hasSameIds(read.ids, before.ids)', ' && hasSameIds(read.ids, before.ids)'),
    ],
    test: unit('pooled-wait', 'gives an answer with another id to the workflow'),
  },
  {
    rule: 'a commit or a time identifies a deployment',
    changes: [change('hosting-api/parse-answers.ts', '^(id|uuid|', '^(id|commit|created_at|uuid|')],
    test: sim('rules/verdicts/doubtful-answers', 'as our trigger is not taken for our deployment'),
  },
  {
    rule: 'the id of the site identifies its deployment',
    changes: [change(IDS, 'only(ids, (id) => !others.includes(id))', 'only(ids, (id) => !others.includes(`${id} `))')],
    test: sim('rules/verdicts/contradictions', 'an id that is that of the site or its server marks nothing'),
  },
  {
    rule: 'a 404 of a balancer means that a site was never deployed',
    changes: [change(NEVER_DEPLOYED, ' && read.isJson', '')],
    test: unit('never-deployed', 'a 404 that is not JSON'),
  },
  {
    rule: 'one 404 means that a site was never deployed',
    changes: [change(NEVER_DEPLOYED, 'NOT_DEPLOYED_READS = 3', 'NOT_DEPLOYED_READS = 1')],
    test: unit('never-deployed', 'a site was never deployed if three reads in a row'),
  },
  {
    rule: 'a 404 means it even after a status was read',
    changes: [
      change(NEVER_DEPLOYED, "let deployed = earlier === 'status'", 'let deployed = false'),
      change(NEVER_DEPLOYED, 'deployed ||= read.ok', 'deployed ||= false'),
    ],
    test: unit('never-deployed', 'no 404 proves it once this run has read a status'),
  },
  {
    rule: 'the baseline forgets what the admission read',
    changes: [
      change(
        'workflows/operation/deploy-site.ts',
        "operation.result.lastStatus === null ? input.admissionRead : 'status'",
        "'failed'",
      ),
    ],
    test: sim('rules/verdicts/acceptance', 'three JSON 404s after a status'),
  },
  {
    rule: 'the first status after a 404 is a change at once',
    changes: [change(VERDICT, 'if (baseline !== null && !sameStatus', 'if (!sameStatus')],
    test: unit('verdict', 'the first deployment of a site is ours by change once'),
  },
  {
    rule: 'one 404 at any time means that a site was never deployed, and the next status is ours',
    changes: [
      change(NEVER_DEPLOYED, "let deployed = earlier === 'status'", 'let deployed = false'),
      change(NEVER_DEPLOYED, 'NOT_DEPLOYED_READS = 3', 'NOT_DEPLOYED_READS = 1'),
      change(VERDICT, 'if (baseline !== null && !sameStatus', 'if (!sameStatus'),
    ],
    test: sim(
      'rules/verdicts/doubtful-answers',
      'does not hide the last deployment: ours failed, and failed is the verdict',
    ),
  },
  {
    rule: 'a guessed field names the backup of a server',
    changes: [
      change(
        'webhooks/sources.ts',
        'fields.server === undefined || fields.backup === undefined || rawKind === null',
        'rawKind === null',
      ),
    ],
    test: unit('share-reaction', "a run does not use another party's backup where the source configures"),
  },
  {
    rule: 'a backup is shared wherever its word is guessed',
    changes: [change('webhooks/sources.ts', " && (namesBackup || reaction !== 'share')", '')],
    test: unit('share-reaction', "a run does not use another party's backup where the source configures"),
  },
  {
    rule: 'a run believes the release of a lock about a backup',
    changes: [
      change(
        'workflows/run/backup-step.ts',
        "=== 'completed' ? await confirmed(run, shared)",
        "=== 'completed' ? shared",
      ),
    ],
    test: sim('rules/verdicts/doubtful-answers', 'a run does not deploy on the word of a release'),
  },
  {
    rule: 'a backup that is given may be one of another server',
    changes: [change('workflows/run/backup-step.ts', 'if (owner === serverId) return', "if (owner !== '') return")],
    test: sim(
      'rules/verdicts/doubtful-answers',
      '--backup-id with a backup that Belay made of another server is refused',
    ),
  },
  {
    rule: 'what was read before the acceptance counts as settled',
    changes: [change(VERDICT, '  row: { ...BROKEN_ROW, sinceMs: nowMs },\n', '')],
    test: unit('verdict', 'reads before the acceptance do not count'),
  },
  {
    rule: 'the time of an outage counts as settled',
    changes: [change('workflows/operation/await-verdict.ts', '        seen = startRow(seen, Date.now());\n', '')],
    test: sim('rules/answers/outages', 'the time of an outage does not settle the status from before the request'),
  },
  {
    rule: 'a run counts its reads from before the acceptance',
    changes: [change('workflows/operation/await-verdict.ts', 'startRow(start.seen, nowMs)', 'start.seen')],
    test: sim('rules/verdicts/acceptance', 'reads during the request do not settle'),
  },
  {
    rule: 'hinted reads count as settled',
    changes: [change(VERDICT, 'own ? 1 : 0', '1')],
    test: unit('verdict', 'hinted reads settle nothing'),
  },
  {
    rule: 'a hinted read passes for one of the beat',
    changes: [
      change(
        'workflows/polling/poll-until.ts',
        "take(read, hintedMs === null ? 'due' : 'hinted')",
        "take(read, 'due')",
      ),
    ],
    test: sim('rules/verdicts/acceptance', 'hinted reads do not settle'),
  },
  {
    rule: 'a hinted read beside a pooled wait is remembered, although the reads after it are not seen',
    changes: [change('workflows/operation/await-verdict.ts', "cause === 'beside'", "cause === 'due'")],
    test: sim('rules/verdicts/pooled-hints', 'begins no row of settled reads'),
  },
  {
    rule: 'a run forgets that it read a status once it has waited',
    changes: [
      change(
        'workflows/run/run-state.ts',
        "const latest = admissionRead === 'status' ? admissionRead : read;",
        'const latest = read;',
      ),
    ],
    test: sim('rules/verdicts/admission-reads', 'after it waited for a freeze'),
  },
  {
    rule: 'the worker of the moment says what a status word means',
    changes: [
      change(
        'workflows/polling/status-reader.ts',
        'import { readElsewhere,',
        'import { describeWorker, readElsewhere,',
      ),
      change(
        'workflows/polling/status-reader.ts',
        'withMeaning(words, first);',
        'withMeaning((await describeWorker()).statuses.deployment, first);',
      ),
    ],
    test: sim('rules/verdicts/doubtful-answers', 'a run keeps the meaning of a status word from when it began'),
  },
  {
    rule: 'an answer without an id decides at once if the baseline had none',
    changes: [
      change(
        VERDICT,
        '[...known.before, seen.ids.own].flatMap(fieldsOf)',
        'known.before.slice(0, 1).flatMap(fieldsOf)',
      ),
    ],
    test: sim('rules/verdicts/lost-ids', 'the id of the request was shown in progress'),
  },
  {
    rule: 'an id from before the request decides in the word that it had then',
    changes: [change(VERDICT, '!sameStatus(last, reading)', '!sameStatus(baseline, reading)')],
    test: sim('rules/verdicts/earlier-ids', 'ends no wait in the word in which the run has read it'),
  },
  {
    rule: 'a deployment in doubt is requested a third time beside an operation in progress',
    changes: [change('rules/resend.ts', 'if (isRefused) return', 'if (false) return')],
    test: sim('rules/answers/post-ends', 'is not sent a third time after a second one was answered'),
  },
  {
    rule: 'the page proves a deployment that was reset',
    changes: [change('workflows/operation/await-verdict.ts', '!isOurs &&', 'trigger.ambiguous &&')],
    test: sim('rules/verdicts/reset-deployments', 'although the page has shown its commit'),
  },
  {
    rule: 'a reset during a check is not noticed',
    changes: [change('features/site-checks/check.ts', '!wasResetBefore && mayHaveSent()', 'false')],
    test: sim('rules/verdicts/reset-deployments', 'is not judged by the page if a later one may show'),
  },
  {
    rule: 'a run that was reset ends as not started',
    changes: [change('workflows/reset.ts', "=> workflowInfo().workflowType !== 'watchDeployment' &&", '=> false &&')],
    test: sim('rules/verdicts/reset-runs', 'if no worker took it up in time'),
  },
  {
    rule: 'the end of an earlier deployment counts as ours because it was in progress before the request',
    changes: [change(VERDICT, "last?.state !== 'in_progress' &&", 'true &&')],
    test: sim(
      'rules/verdicts/earlier-ids',
      'does not end a wait with the end of a deployment that was in progress before',
    ),
  },
  {
    rule: 'an id in any field stands for that of ours',
    changes: [change(VERDICT, '!fields.some((it) => shown.includes(it))', 'fields.length === 0')],
    test: sim('rules/verdicts/lost-ids', 'its id is in another field than ours'),
  },
  {
    rule: 'one answer without an id is a trace',
    changes: [change(VERDICT, "? 'no_id' : null", '? null : null')],
    test: sim('rules/verdicts/lost-ids', 'is no trace of a request without effect if'),
  },
];
