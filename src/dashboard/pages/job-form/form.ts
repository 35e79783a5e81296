// What the form of a job holds, and the way between it and what the service takes and gives.

import type { Job } from '../../data/reads.ts'
import {
  changedFields,
  chosenOf as chosen,
  jsonIn as json,
  jsonText,
  numberIn as number,
  numberOrNull,
  textOf as text,
  type Fields,
} from '../../forms/form-values.ts'

export type Work = 'handler' | 'http' | 'crawl' | 'command' | 'workflow'
export type When = 'every' | 'cron' | 'once' | 'manual'

const exhaustions = ['stop', 'next', 'wait'] as const

/** Whether the job runs once or on demand: then there is no next firing to go on with. */
export function isSingle(when: When): boolean {
  return when === 'once' || when === 'manual'
}

export interface JobForm {
  readonly name: string
  readonly tenant: string
  readonly work: Work
  readonly handler: string
  /** Settings of the action besides those below, as they were. */
  readonly kept: Readonly<Record<string, unknown>>
  readonly url: string
  readonly method: string
  readonly headers: string
  readonly depth: string
  readonly pages: string
  readonly shell: string
  readonly workflow: string
  readonly when: When
  readonly every: string
  readonly from: 'schedule' | 'start' | 'finish'
  readonly cron: string
  readonly timezone: string
  readonly dialect: 'extended' | 'posix'
  readonly at: string
  readonly payload: string
  readonly tags: string
  readonly queue: string
  readonly priority: string
  readonly retries: string
  readonly backoff: 'fixed' | 'exponential' | 'relative'
  readonly delay: string
  readonly delayMax: string
  readonly exhausted: 'stop' | 'next' | 'wait'
  readonly timeout: string
  readonly overlap: 'skip' | 'queue' | 'replace' | 'allow'
  readonly waiting: string
  readonly missed: 'skip' | 'once' | 'all'
  readonly catchUp: string
  readonly catchUpAge: string
  readonly grace: string
  readonly jitter: string
  readonly runLimit: string
}

export const emptyForm: JobForm = {
  name: '',
  tenant: '',
  work: 'http',
  handler: '',
  kept: {},
  url: '',
  method: 'POST',
  headers: '{}',
  depth: '3',
  pages: '100',
  shell: '',
  workflow: '',
  when: 'every',
  every: '1h',
  from: 'schedule',
  cron: '0 7 * * 1-5',
  timezone: 'UTC',
  dialect: 'extended',
  at: '',
  payload: 'null',
  tags: '',
  queue: 'default',
  priority: '3',
  retries: '3',
  backoff: 'exponential',
  delay: '60',
  delayMax: '3600',
  exhausted: 'next',
  timeout: '600',
  overlap: 'skip',
  waiting: '1',
  missed: 'once',
  catchUp: '10',
  catchUpAge: '86400',
  grace: '60',
  jitter: '0',
  runLimit: '',
}

export function formOf(job: Job): JobForm {
  const when = whenFields(job.trigger)
  return {
    ...emptyForm,
    name: job.name,
    tenant: job.tenant,
    handler: job.handler,
    ...workFields(job),
    ...when,
    ...policyFields(job, when.when),
    payload: jsonText(job.payload),
    tags: job.tags.join(', '),
    queue: job.queue,
    priority: String(job.priority),
  }
}

function workFields({ action }: Job): Partial<JobForm> {
  if (action === null) return { work: 'handler' }
  const { kind, url, method, headers, depth, pages, shell, workflow_id, ...kept } = action as Fields
  return {
    work: chosen(kind, ['http', 'crawl', 'command', 'workflow'], 'http'),
    kept,
    url: text(url, ''),
    method: text(method, 'POST'),
    headers: jsonText(headers ?? {}),
    depth: text(depth, '3'),
    pages: text(pages, '100'),
    shell: text(shell, ''),
    workflow: text(workflow_id, ''),
  }
}

function whenFields(trigger: Fields): Partial<JobForm> & Pick<JobForm, 'when'> {
  if (trigger.manual === true) return { when: 'manual' }
  if (typeof trigger.at === 'string') return { when: 'once', at: localInput(trigger.at) }
  if (trigger.every !== undefined) {
    return {
      when: 'every',
      every: durationText(Number(trigger.every)),
      from: chosen(trigger.from, ['schedule', 'start', 'finish'], 'schedule'),
    }
  }
  return {
    when: 'cron',
    cron: text(trigger.cron, ''),
    timezone: text(trigger.timezone, 'UTC'),
    dialect: chosen(trigger.dialect, ['extended', 'posix'], 'extended'),
  }
}

function policyFields(job: Job, when: When): Partial<JobForm> {
  const backoff = (job.retry.backoff ?? {}) as Fields
  const overlap: Fields =
    typeof job.overlap === 'string' ? { policy: job.overlap } : (job.overlap as Fields)
  const missed: Fields =
    typeof job.missed === 'string' ? { policy: job.missed } : (job.missed as Fields)
  return {
    retries: text(job.retry.limit, ''),
    backoff: chosen(backoff.kind, ['fixed', 'exponential', 'relative'], 'exponential'),
    delay: text(backoff.delay_seconds ?? backoff.base_seconds ?? backoff.max_factor, '60'),
    delayMax: text(backoff.max_seconds, '3600'),
    // A job without a schedule can only stop; given one, it gets the default of schedules.
    exhausted: isSingle(when) ? 'next' : chosen(job.retry.exhausted, exhaustions, 'next'),
    timeout: text(job.timeout_seconds, ''),
    overlap: chosen(overlap.policy, ['skip', 'queue', 'replace', 'allow'], 'skip'),
    waiting: text(overlap.limit, '1'),
    missed: chosen(missed.policy, ['skip', 'once', 'all'], 'once'),
    catchUp: text(missed.max, '10'),
    catchUpAge: text(missed.max_age_seconds, '86400'),
    grace: String(job.grace_seconds),
    jitter: String(job.jitter_seconds),
    runLimit: text(job.run_limit, ''),
  }
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** The form people write: 90 minutes are `90m`. */
export function durationText(ms: number): string {
  const unit = units.find(([, size]) => ms % size === 0)
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms`
}

/** What a field for local moments takes. */
export function localInput(moment: string): string {
  const date = new Date(moment)
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

/** What a form sends; whether it is right is for the service to say. */
export function bodyOf(form: JobForm): Record<string, unknown> {
  return {
    name: form.name,
    trigger: triggerOf(form),
    ...(form.work === 'handler' ? { handler: form.handler } : { action: actionOf(form) }),
    payload: json(form.payload),
    tags: form.tags
      .split(',')
      .map(tag => tag.trim())
      .filter(tag => tag !== ''),
    queue: form.queue,
    priority: number(form.priority),
    retry: retryOf(form),
    timeout_seconds: numberOrNull(form.timeout),
    overlap:
      form.overlap === 'queue' ? { policy: 'queue', limit: number(form.waiting) } : form.overlap,
    missed:
      form.missed === 'all'
        ? { policy: 'all', max: number(form.catchUp), max_age_seconds: number(form.catchUpAge) }
        : form.missed,
    grace_seconds: number(form.grace),
    jitter_seconds: number(form.jitter),
    run_limit: numberOrNull(form.runLimit),
  }
}

function triggerOf(form: JobForm): Fields {
  switch (form.when) {
    case 'every':
      return { every: form.every, from: form.from }
    case 'cron':
      return { cron: form.cron, timezone: form.timezone, dialect: form.dialect }
    case 'once': {
      const at = new Date(form.at)
      return { at: Number.isNaN(at.getTime()) ? form.at : at.toISOString() }
    }
    case 'manual':
      return { manual: true }
  }
}

function actionOf(form: JobForm): Fields {
  const { kept } = form
  switch (form.work) {
    case 'http':
      return {
        kind: 'http',
        ...kept,
        url: form.url,
        method: form.method,
        headers: json(form.headers),
      }
    case 'crawl':
      return {
        kind: 'crawl',
        ...kept,
        url: form.url,
        depth: number(form.depth),
        pages: number(form.pages),
      }
    case 'command':
      return { kind: 'command', ...kept, ...(form.shell === '' ? {} : { shell: form.shell }) }
    case 'workflow':
      return { kind: 'workflow', ...kept, workflow_id: number(form.workflow) }
    case 'handler':
      return {}
  }
}

function retryOf(form: JobForm): Fields {
  const backoffs: Readonly<Record<JobForm['backoff'], Fields>> = {
    fixed: { kind: 'fixed', delay_seconds: number(form.delay) },
    exponential: {
      kind: 'exponential',
      base_seconds: number(form.delay),
      max_seconds: number(form.delayMax),
    },
    relative: { kind: 'relative', max_factor: number(form.delay) },
  }
  return {
    limit: numberOrNull(form.retries),
    backoff: backoffs[form.backoff],
    exhausted: isSingle(form.when) ? 'stop' : form.exhausted,
  }
}

/** Only what the person changed: what someone else changed meanwhile stays as it is. */
export function changesOf(before: JobForm, now: JobForm): Record<string, unknown> {
  return changedFields(bodyOf(before), bodyOf(now))
}
