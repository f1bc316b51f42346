const LOCAL = { dropped: 'local activities are gone' };
const LEARNED = { dropped: 'learned polling is gone' };

/** What became of cases whose name no test has any more: another name, or the reason why they are gone. */
export const CHANGED_CASES: Readonly<Record<string, { now: string } | { dropped: string }>> = {
  'has a row for every folder of src and no other rows': { dropped: 'lint refuses files that no row describes' },
  'lets a row import only from rows above it, so that imports run in one direction': {
    dropped: 'eslint-plugin-boundaries reads tools/boundaries.js',
  },
  'allows no impure package in workflow code, and each Temporal SDK package only in its layers': {
    dropped: 'test/repository/layers.test.ts tries such imports',
  },
  'after a request in doubt and a pause that the service asks for, the status is read up to the next request': {
    now: 'after a request in doubt and one that meets an operation in progress, no other request follows',
  },
  'doctor names the line of a variable that belay.yaml needs and that is not set': {
    now: 'doctor names the line of notify.heartbeats.nightly, whose variable a worker needs and is not set',
  },
  'npm run test:production builds the version of the server': {
    now: 'the production topology of the tests has the version of the server',
  },
  'a trigger that ends with 404 without JSON fails as NotReached': {
    now: 'a trigger that ends with 404 without JSON fails as Refused',
  },
  'a deployment POST answered 404 without JSON is sent again and deploys once': {
    now: 'a deployment POST answered 404 without JSON ends not started and is not repeated',
  },
  'a backup POST answered 404 without JSON is sent again and makes one backup': {
    now: 'a backup POST answered 404 without JSON ends not started and is not repeated',
  },
  'every local activity has one attempt': LOCAL,
  'is given once if the query comes again with the next task': LOCAL,
  'is an error if the query came without a task while a local activity runs': LOCAL,
  'is given at once if no local activity runs': LOCAL,
  'waits on if the code begins another local activity': LOCAL,
  'waits until the code has seen what the local activity brought': LOCAL,
  'replays as it was made, and ends as ever': LOCAL,
  'replays as it was made if the answer of a request comes while a read is in progress': LOCAL,
  'every poll costs six history events': { now: 'every poll costs eleven history events' },
  'polls of a worker cost six history events in all, after the first one': {
    now: 'polls of a worker cost one activity in all, after the first one',
  },
  'a run of fifty polls stays under four hundred events in its longest history': {
    now: 'a run of fifty polls stays under seven hundred events in its longest history',
  },
  'adds at most six events for each measurement to a rollout in which each server adds ten': {
    now: 'adds at most six events for each measurement to a rollout in which each server adds fifteen',
  },
  'a resting worker has no slot for an activity until its rest is over': {
    now: 'a resting worker asks for no activity until its rest is over, and makes those that it scheduled itself',
  },
  'a resting worker leaves its triggers and regular reads to others': {
    now: 'a resting worker leaves its triggers, and the reads of others, to others',
  },
  'costs one activity, and its result counts every poll': {
    now: 'a pooled wait costs one activity, and its result counts every poll',
  },
  'prints its address in one line of JSON, accepts deliveries, and on a signal finishes one in progress and exits 0': {
    now: 'webhooks prints its address in one line of JSON, accepts deliveries, and on a signal finishes one in progress and exits 0',
  },
  'is not checked on a site without a check, and identity is then out of reach': {
    now: 'refuses a run before anything is sent, however it names its target',
  },
  'property: outside text becomes one line of at most 200 characters without control characters': {
    now: 'property: outside text becomes one line of at most 200 characters without control characters or half an emoji',
  },
  'belay backup --polling sets polling': LEARNED,
  'belay deploy --polling sets polling': LEARNED,
  'belay run --polling sets polling': LEARNED,
  'belay watch does not accept --polling': LEARNED,
  'polling can be set in belay.yaml': LEARNED,
  'TEMPORAL_NAMESPACE alone does not lead away from a running belay dev': {
    now: 'TEMPORAL_NAMESPACE alone does not lead away from a running belay dev, and is its namespace',
  },
  'does not count for a plan with another targets': {
    dropped: 'a plan has the root hash of its targets: "does not count for a plan with another parts"',
  },
  'is refused by a worker that could not verify an answer': {
    now: 'is refused by a worker with too few signers, and left to another one by one that cannot read its own',
  },
  'is measured again for a wave in which a retry begins something, and not for one that is completed': {
    now: 'is measured for a wave in which the retry begins something, and not for one that passed and is completed',
  },
  'is judged with the others: the worst verdict counts': {
    now: 'measures its gates side by side, and the worst one decides',
  },
  'a freeze for a fleet that belay.yaml does not have comes with a note': {
    now: 'a freeze for a fleet that only the file of the caller has is refused, and nothing is frozen',
  },
  'npm run test:ui builds the version of the UI': { now: 'the tests of the UI have its version' },
  '6 rollouts keep their limits, and played twice, with caches or without, they are the same': {
    now: '7 rollouts keep their limits, and played twice, with caches or without, they are the same',
  },
  '28 seeds break no invariant, and played twice, with caches or without, they are the same, and they meet every situation':
    {
      now: '20 seeds break no invariant, and played twice, with caches or without, they are the same, and they meet every situation',
    },
  'an id already in the baseline identifies nothing': {
    now: 'an id already in the baseline identifies nothing, and neither does that of the site or its server',
  },
  'only ids identify a deployment, and not the id of its site or server': {
    now: 'an id already in the baseline identifies nothing, and neither does that of the site or its server',
  },
  'reads the status and the identity of the latest deployment': {
    now: 'reads the status and the ids of the latest deployment',
  },
  'ends the settle time as identity, with a status that is read after it was shown': {
    now: 'labels a status that settles as identity, and shortens no settle time',
  },
  'is a change and no more without a commit to expect': {
    now: 'labels a status that settles as changed, and shortens no settle time',
  },
  'meets --min-evidence identity, which no status alone does': {
    now: 'meets --min-evidence identity, which no status alone does, however long the deployment takes',
  },
  'a run cancelled with an existing backup and nothing deployed ends cancelled': {
    now: 'a run cancelled with an existing backup and nothing requested ends not_started',
  },
  'may be aborted while it asks': { now: 'aborted while it asks has started nothing' },
  'may be cancelled while it asks': { now: 'cancelled while it asks has started nothing' },
  'are as many as tries, 1 s to 3 intervals apart, and the last one is made when it would be anyway': LEARNED,
  'are no more, in the mean, than even reads': LEARNED,
  'are not placed closer than a second, so an interval of a second stays as it is': LEARNED,
  'are those of the closed operations of the service, completed or failed, the newest first': LEARNED,
  'asks for no past durations unless it is chosen': LEARNED,
  'brings a quarter of the delay for steady durations': LEARNED,
  'brings about half of the delay for durations of two kinds': LEARNED,
  'does no harm where durations vary too much to learn from': LEARNED,
  'follows durations that change': LEARNED,
  'is nothing from fewer than three durations': LEARNED,
  'learns how long a backup takes, and from failures, too': LEARNED,
  'makes as many tries as without it, and the last one at the same time': LEARNED,
  'reads at each interval as long as fewer than three durations are known': LEARNED,
  'reports a steady deployment with at most a quarter of the delay, and with no more reads': LEARNED,
  'reports no outputs if Belay is not installed': { now: 'reports no outputs if there is no program, and exits 2' },
  'does not take the settle time for the time of a deployment, but for that of its verdict': {
    now: 'takes the settle time for a part of the time to the verdict',
  },
  'the GitHub Action interpolates its inputs only as whole values of env': {
    now: 'the GitHub Action runs on Node 24, and its last step only if the job was cancelled',
  },
  'the job that publishes the package neither checks out code nor builds: it publishes the tested tarball': {
    now: 'the job that publishes the packages neither checks out code nor builds: it publishes the tested tarballs',
  },
  'the token is in no history, log or error of these tests and those of the ends of POSTs': {
    now: 'the token is in no history, log or error of these tests, although an answer repeated it',
  },
  'suggests ["--interval\\twith --site or --app: how often to read (default: 5s)"] for: belay top --int': {
    now: 'suggests ["--interval\\twith --site, --app or --fleet: how often to read (default: 5s, longer for a large fleet)"] for: belay top --int',
  },
  'docs/belay.schema.json matches the output of the tool': {
    now: 'docs/belay.schema.json is what the tool writes',
  },
  'docs/rollout-result.schema.json matches the output of the tool': {
    now: 'docs/rollout-result.schema.json is what the tool writes',
  },
  'docs/run-input.schema.json matches the output of the tool': {
    now: 'docs/run-input.schema.json is what the tool writes',
  },
  'docs/run-result.schema.json matches the output of the tool': {
    now: 'docs/run-result.schema.json is what the tool writes',
  },
  'the details of a trigger failure contain the status and the Retry-After': {
    now: 'the details of a trigger failure contain the status, the Retry-After and when Temporal learned of it',
  },
};
