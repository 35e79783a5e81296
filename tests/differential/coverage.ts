// What the histories must have met together, so that their agreement means something.

const settles = [
  'succeeded',
  'failed',
  'timedOut',
  'cancelled',
  'interrupted',
  'skipped',
  'deferred',
  'deferred idle',
  'released',
].map(kind => `settle ${kind}`)

/** Operations that end in a commit: each must have succeeded and conflicted. */
const changes = [
  ...settles,
  'begin',
  'beginNothing',
  'release',
  'reap',
  'resume by itself',
  'pause',
  'resume',
  'cancel',
  'cancel run',
  'retry',
  'edit',
  'run',
  'rerun',
  'backfill',
  'archive',
  'revive',
]

const results: Readonly<Record<string, readonly string[]>> = {
  insert: ['inserted', 'exists', 'full', 'conflict'],
  upcoming: ['some', 'none'],
  'jobs by filter': ['some', 'none'],
  'attempts by filter': ['some', 'none'],
  claim: ['some', 'none'],
  'insert and claim': ['new', 'old', 'none'],
  held: ['committed', 'conflict', 'missing'],
  run: ['full', 'refused'],
  edit: ['unchanged', 'refused'],
  overdue: ['some', 'none'],
  renew: ['held', 'lost'],
  look: ['held', 'lost'],
  report: ['held', 'lost'],
  record: ['put', 'conflict'],
  remove: ['existed', 'missing'],
  prune: ['attempts', 'jobs', 'records'],
  queue: ['paused', 'resumed'],
}

export const required: readonly string[] = [
  ...changes.flatMap(name => [`${name}:committed`, `${name}:conflict`]),
  ...Object.entries(results).flatMap(([name, ways]) => ways.map(way => `${name}:${way}`)),
]
