// What goes wrong, as plain lines for a terminal: the default where no logger was given. One line per
// job and episode: the first failure, giving up, and the recovery; not every failure in between.

import type { Attempt } from '../core/attempt.ts'
import { isSetAside } from '../core/run/crash.ts'
import type { JobAlert } from '../core/alerts/episode.ts'
import { PUSHING } from '../core/fairness/fair.ts'
import type { Job } from '../core/job.ts'
import { formatDuration, iso, type Instant, type Millis } from '../core/time.ts'
import type { Trouble } from '../core/alerts/trouble.ts'
import type { Events, Settled } from '../runtime/events.ts'

export interface ConsoleOptions {
  readonly now: () => Instant
  readonly write: (line: string) => void
  /** Whether the `carillon` command can open the store, so that lines may name it. */
  readonly hasCommand: boolean
}

type Level = 'INFO' | 'WARN' | 'ERROR'

/** Consecutive failures of a job, or of the tasks of one name. */
interface Episode {
  failures: number
  givenUp: number
  isShown: boolean
  hasGivenUp: boolean
  isSetAside: boolean
}

/** A job that fails and recovers all the time gets so many lines in a minute. */
const SHOWN_MAX = 3
const SHOWN_WITHIN_MS = 60_000
/** Jobs remembered at once; of more, the oldest are forgotten. */
const REMEMBERED_MAX = 10_000
const MESSAGE_MAX = 300
/** The key of a definition's row where it has only one. */
const MAIN_KEY = 'main'

export function logToConsole(events: Events, options: ConsoleOptions): () => void {
  const log = new ConsoleLog(options)
  const stops = [
    events.on('settled', ({ settled }) => settled.forEach(one => log.settled(one))),
    events.on('stray', ({ job }) => log.notice(job, 'ignored its abort signal and still runs')),
    events.on('lateResult', ({ job, reason }) =>
      log.notice(job, `ended after it was given up (${reason}); its result was refused`),
    ),
    events.on('leaseLost', ({ job, reason }) =>
      log.notice(job, `lost its lease (${reason}); its result was refused`),
    ),
    events.on('resultOmitted', ({ job, why }) =>
      log.notice(job, `ran, without its result: ${why}`),
    ),
    events.on('alerted', ({ alert }) => log.alerted(alert)),
    events.on('undeclared', ({ jobs, app, as }) => {
      const why = `no running node of app ${app} declares it; declare it again to bring it back`
      for (const job of jobs) log.notice(job, `was ${as}: ${why}`)
    }),
    events.on('error', ({ kind, error, during }) => {
      if (kind === 'store' || kind === 'claim') log.storeFailed(error, during)
      else if (during !== PUSHING) log.failed(during, error)
    }),
    events.on('recovered', ({ afterMs }) => log.storeIsBack(afterMs)),
    events.on('troubled', ({ trouble }) => log.troubled(trouble)),
    events.on('troubleOver', ({ trouble, afterMs }) => log.troubleOver(trouble, afterMs)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

class ConsoleLog {
  readonly #options: ConsoleOptions
  readonly #episodes = new Map<string, Episode>()
  readonly #shown = new Map<string, Instant[]>()
  #storeFailedAt: Instant | null = null
  #isStoreFailingToSettle = false
  #storeAdvice = ''

  constructor(options: ConsoleOptions) {
    this.#options = options
  }

  print(level: Level, text: string, at: Instant = this.#options.now()): void {
    this.#options.write(`carillon ${iso(at)} ${level} ${text}`)
  }

  settled({ job, attempt }: Settled): void {
    if (this.#isStoreFailingToSettle) this.storeIsBack()
    if (attempt === null) return
    switch (attempt.outcome) {
      case 'failed':
      case 'timedOut':
      case 'abandoned':
        this.#runFailed(job, attempt)
        return
      case 'succeeded':
        this.#runSucceeded(job, attempt)
        return
      default:
        return
    }
  }

  #runFailed(job: Job, attempt: Attempt): void {
    const key = keyOf(job)
    const episode = this.#episodes.get(key) ?? begun()
    remember(this.#episodes, key, episode)
    const isRetried = job.retryAt !== null && job.current.run === attempt.run
    episode.failures++
    if (attempt.outcome === 'abandoned' && isSetAside(job)) {
      if (!episode.isSetAside) this.#showSetAside(job, attempt)
      episode.isSetAside = true
      episode.isShown = true
      return
    }
    if (!isRetried && attempt.outcome !== 'abandoned') episode.givenUp++
    const isFirst = !episode.isShown && this.#mayShow(`failed ${key}`, attempt.finishedAt)
    const isGivingUp = episode.givenUp > 0 && !episode.hasGivenUp && (isFirst || episode.isShown)
    const isEnd = job.kind === 'job' && job.ended !== null
    if (isFirst) episode.isShown = true
    if (isGivingUp) episode.hasGivenUp = true
    if (isFirst || isGivingUp || isEnd) this.#showFailure(job, attempt, isRetried)
    if (isEnd) this.#episodes.delete(key)
  }

  #showSetAside(job: Job, { finishedAt }: Attempt): void {
    const { crashes, dueAt, spec } = job
    const next = dueAt === null ? '' : `; next try at ${iso(dueAt)}`
    const retry = this.#options.hasCommand
      ? `; carillon retry ${this.#address(job)} tries at once`
      : ''
    const text = `${spec.name} was set aside after ${crashes} crashes in a row${next}${retry}.`
    this.print('ERROR', text, finishedAt)
  }

  #showFailure(job: Job, attempt: Attempt, isRetried: boolean): void {
    const { finishedAt } = attempt
    const tries = attempt.attempt > 1 && !isRetried ? ` (attempt ${attempt.attempt})` : ''
    const text = `${job.spec.name} ${happened(attempt)}${tries}. ${upNext(job, attempt)}`
    this.print(isRetried ? 'WARN' : 'ERROR', `${text}${this.#command(job)}`, finishedAt)
  }

  #runSucceeded(job: Job, attempt: Attempt): void {
    const key = keyOf(job)
    const episode = this.#episodes.get(key)
    if (!episode) return
    this.#episodes.delete(key)
    if (!episode.isShown) return
    const { failures, givenUp } = episode
    const runs = givenUp > 0 ? `, ${counted(givenUp, 'run')} given up` : ''
    const text = `${job.spec.name} recovered after ${counted(failures, 'failure')}${runs}`
    this.print('INFO', text, attempt.finishedAt)
  }

  notice(job: Job, text: string): void {
    if (!this.#mayShow(`${text} ${keyOf(job)}`, this.#options.now())) return
    this.print('WARN', `${job.spec.name} ${text}.${this.#command(job)}`)
  }

  /** Runs that never came are told here; of those that failed there is a line already. */
  alerted({ condition, type, message, at, detail }: JobAlert): void {
    if (condition !== 'run_missing' && detail !== 'missed') return
    if (type === 'alert.raised') this.print('ERROR', `${message}.`, at)
    else this.print('INFO', `${message}.`, at)
  }

  failed(during: string, error: unknown): void {
    if (!this.#mayShow(`error ${during}`, this.#options.now())) return
    this.print('ERROR', `${during} failed: ${messageOf(error)}`)
  }

  /** Trouble with the store is told with the error that follows, which says what happened. */
  troubled({ code, level, message }: Trouble): void {
    if (isOfStore(code)) this.#storeAdvice = code === 'store_failing' ? '' : message
    else this.print(level === 'warn' ? 'WARN' : 'ERROR', message)
  }

  troubleOver({ code }: Trouble, afterMs: Millis): void {
    if (isOfStore(code)) return
    this.print('INFO', `${code} is over after ${formatDuration(afterMs)}`)
  }

  storeFailed(error: unknown, during: string): void {
    if (this.#storeFailedAt !== null) return
    this.#storeFailedAt = this.#options.now()
    this.#isStoreFailingToSettle = during === 'settle'
    const advice = this.#storeAdvice || 'Carillon retries until it answers.'
    this.print('ERROR', `the store failed (${during}): ${messageOf(error)}. ${advice}`)
  }

  storeIsBack(afterMs = this.#options.now() - (this.#storeFailedAt ?? 0)): void {
    if (this.#storeFailedAt === null) return
    this.#storeFailedAt = null
    this.#isStoreFailingToSettle = false
    this.#storeAdvice = ''
    this.print('INFO', `the store answers again after ${formatDuration(afterMs)}`)
  }

  #mayShow(key: string, at: Instant): boolean {
    const shown = this.#shown.get(key) ?? []
    if (shown.length >= SHOWN_MAX && at - shown[0]! < SHOWN_WITHIN_MS) return false
    remember(this.#shown, key, [...shown, at].slice(-SHOWN_MAX))
    return true
  }

  #command(job: Job): string {
    return this.#options.hasCommand ? ` See: carillon why ${this.#address(job)}` : ''
  }

  /** How the command line names the job. */
  #address(job: Job): string {
    // Several rows of one definition share its name: only the id tells them apart.
    const isAlone = job.kind === 'job' && (job.declared?.key ?? MAIN_KEY) === MAIN_KEY
    return quoted(isAlone ? job.spec.name : job.id)
  }
}

function isOfStore(code: string): boolean {
  return code.startsWith('store_') || code === 'outcomes_unwritten'
}

function begun(): Episode {
  return { failures: 0, givenUp: 0, isShown: false, hasGivenUp: false, isSetAside: false }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > REMEMBERED_MAX) map.delete(map.keys().next().value!)
}

/** Tasks come and go: those of one name share their episode. */
function keyOf({ id, kind, spec }: Job): string {
  return kind === 'job' ? id : `${spec.tenant} ${spec.handler} ${spec.name}`
}

function happened({ outcome, error }: Attempt): string {
  if (outcome === 'abandoned') return 'was interrupted: its process ended or stalled'
  if (outcome === 'timedOut') return `timed out: ${messageOf(error)}`
  return `failed: ${messageOf(error)}`
}

function upNext(job: Job, attempt: Attempt): string {
  const { finishedAt } = attempt
  if (job.ended) return job.kind === 'task' ? 'Gave up.' : 'Gave up; it does not run again.'
  if (job.retryAt !== null && job.current.run === attempt.run) {
    return `Retry in ${formatDuration(job.retryAt - finishedAt)}.`
  }
  if (job.dueAt === null) return 'Gave up.'
  const isAgain = attempt.outcome === 'abandoned'
  if (isAgain)
    return job.dueAt <= finishedAt ? 'It runs again now.' : `It runs again at ${iso(job.dueAt)}.`
  return `Gave up on this run; next run at ${iso(job.dueAt)}.`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** One line, and not a page of it. */
function messageOf(error: unknown): string {
  const text =
    typeof error === 'object' && error !== null && 'message' in error
      ? String(error.message)
      : String(error)
  const line = text.split('\n', 1)[0]!
  return line.length > MESSAGE_MAX ? `${line.slice(0, MESSAGE_MAX)}…` : line
}

/** For a POSIX shell. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}
