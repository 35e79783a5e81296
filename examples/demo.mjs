// The demo behind `npm start`: a scheduler on the embedded store, five small jobs, one line per
// thing that happens. Stop it and start it again: it goes on where it was.

import process from 'node:process'
import * as z from 'zod'
import { createScheduler, cron, every, job } from 'carillon'

const STORE = '.carillon/demo.db'
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
const TWO = '2-digit'
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: TWO,
  minute: TWO,
  second: TWO,
  timeZoneName: 'short',
})

const ticker = job('ticker', {
  title: 'An interval: every 10 seconds, the first at once',
  schedule: every('10s'),
  firstRun: 'now',
  run: (_, { run }) => ({ count: run.number }),
})

const report = job('report', {
  title: 'A cron expression in a zone: each full minute in Berlin, then it triggers a mail',
  schedule: cron('* * * * *', { tz: 'Europe/Berlin' }),
  async run(_, { idempotencyKey }) {
    // The key makes a repeated attempt of this run ask for the same mail, not for a second one.
    await scheduler.trigger('mail', { to: 'ana@example.com' }, { idempotencyKey, delay: '3s' })
  },
})

const mail = job('mail', {
  title: 'No schedule: runs when it is triggered',
  input: z.object({ to: z.email() }),
  run: async ({ to }) => ({ sent: to }),
})

const weather = job('weather', {
  title: 'Fails now and then: retried after 2 s and 4 s, then left to the next firing',
  schedule: every('20s'),
  retry: { limit: 2, base: '2s', exhausted: 'next' },
  run() {
    if (Math.random() < 0.5) throw new Error('the weather service did not answer')
    return { sky: 'clear' }
  },
})

const indexing = job('indexing', {
  title: 'Longer than its interval: reports progress, keeps a checkpoint, skips what overlaps',
  schedule: every('15s'),
  async run(_, context) {
    for (let page = (context.checkpoint ?? 0) + 1; page <= 4; page++) {
      await sleep(5_000, context.signal)
      context.progress(page / 4, `page ${page} of 4`)
      await context.heartbeat(page)
    }
  },
})

// Under npm a SIGTERM may end the shell between npm and this program, and not the program itself.
if (process.env.npm_lifecycle_event === 'start') {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && process.kill(process.pid, 'SIGTERM'), 500).unref()
}

const jobs = [ticker, report, mail, weather, indexing]

console.log(`Carillon demo. Jobs and history are kept in ${STORE}; times are ${ZONE}.`)
for (const { name, options } of jobs) console.log(`  ${name.padEnd(9)} ${options.title}`)
console.log('Press Ctrl-C to stop; press it again to stop at once.\n')

const scheduler = createScheduler({
  jobs,
  store: `sqlite:${STORE}`,
  app: 'demo',
  shutdown: { signals: true, grace: '3s' },
  logger: logger(),
})
await scheduler.start()
for await (const { spec, dueAt, state, counters } of scheduler.jobs.list({ kind: 'job' })) {
  const next = dueAt === null ? (state === 'running' ? 'running' : 'when asked') : time(dueAt)
  console.log(`  ${spec.name.padEnd(9)} next: ${next}, runs so far: ${counters.runs}`)
}
console.log()
for await (const event of scheduler.events({ types: ['run.progress'] })) {
  const share = `${Math.round(event.fraction * 100)} %`.padStart(5)
  print(event.name, `…${share}`, event.note)
}
console.log(`\nStopped. What was left is kept in ${STORE}: \`npm start\` goes on from there.`)

/** Any logger of this shape will do; pino is one. This one writes for people. */
function logger() {
  const lines = {
    'job started': ({ job_id, retry_attempt }) => {
      const again = retry_attempt > 0 ? `again, after ${retry_attempt} failed` : ''
      print(nameOf(job_id), '▶ started', again)
    },
    'job finished': ({ job_id, outcome, duration_ms }) => {
      const mark = outcome === 'succeeded' ? '✓ finished' : `⊘ ${outcome}`
      print(nameOf(job_id), mark, `in ${seconds(duration_ms)}`)
    },
    'job failed': ({ job_id, error, retry_in_ms }) => {
      const next = retry_in_ms === null ? 'no retry left' : `↻ retry in ${seconds(retry_in_ms)}`
      print(nameOf(job_id), '✕ failed', `${error}; ${next}`)
    },
    'occurrences skipped': ({ job_id, count, reason, from, to }) => {
      const span = count === 1 ? time(from) : `${time(from)} to ${time(to)}`
      print(nameOf(job_id), '– skipped', `${count} × ${reason}: ${span}`)
    },
    'scheduler state': ({ to }) => {
      if (to === 'stopping') console.log('\nStopping: running jobs get 3 s to finish …')
    },
  }
  const write = (fields, message) => lines[message]?.(fields)
  const trouble = (fields, message) => (message in lines ? write : console.error)(fields, message)
  return { debug: () => {}, info: write, warn: trouble, error: trouble }
}

/** Ids of rows that code declares are tenant:app:definition:key. */
function nameOf(id) {
  return decodeURIComponent(id.split(':')[2] ?? id)
}

function print(name, what, detail = '') {
  console.log(`${time(Date.now())}  ${name.padEnd(9)} ${what.padEnd(11)} ${detail}`.trimEnd())
}

function time(at) {
  return clock.format(at)
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Ends early, with the reason, when the scheduler asks the handler to stop. */
function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
