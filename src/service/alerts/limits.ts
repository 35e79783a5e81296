// The settings of alerts as people give them; limits such as
// `success_rate=90%,processing_delay=2m,stale_locks=off`.

import { AllowList } from '../../actions/guard/allow.ts'
import { checkUrl } from '../../actions/guard/url.ts'
import { secretKey, SECRET_RULE } from '../../actions/http/sign.ts'
import type { Problem } from '../../core/errors.ts'
import { DAY, parseDuration, type Millis } from '../../core/time.ts'
import {
  alertDefaults,
  conditions,
  jobConditions,
  type AlertLimits,
  type Condition,
} from './conditions.ts'

type Form = 'share' | 'duration' | 'factor' | 'count'

const forms: Readonly<Record<Condition, Form>> = {
  error_rate: 'share',
  claims_failing: 'share',
  store_down: 'duration',
  processing_delay: 'duration',
  success_rate: 'share',
  slow_runs: 'factor',
  stale_locks: 'count',
}

const rules: Readonly<Record<Form, string>> = {
  share: 'must be a share such as 0.8 or 80%, or off',
  duration: 'must be a duration such as 30s or 5m, or off',
  factor: 'must be a number from 1 to 1000, or off',
  count: 'must be a whole number from 1 to 100, or off',
}

export interface AlertConfig {
  readonly alertUrl: string | null
  readonly alertSecret: string | null
  readonly alerts: readonly string[]
  readonly allowHosts: readonly string[]
}

/** Everything that is wrong with them; an address may hold a key, so it is not repeated. */
export function alertProblems({ alertUrl, alertSecret, ...config }: AlertConfig): Problem[] {
  const problems = [...parseAlertLimits(config.alerts, 'CARILLON_ALERTS').problems]
  // One that could not be read as a text was reported already.
  if (alertUrl != null) {
    const { rule } = checkUrl(alertUrl, AllowList.parse(config.allowHosts).list)
    if (rule !== null) problems.push({ field: 'CARILLON_ALERT_URL', value: '***', rule })
  }
  if (alertSecret != null && secretKey(alertSecret) === null) {
    problems.push({ field: 'CARILLON_ALERT_SECRET', value: '***', rule: SECRET_RULE })
  }
  return problems
}

export type JobCondition = (typeof jobConditions)[number]

export interface ParsedLimits {
  readonly limits: AlertLimits
  /** Conditions of jobs that are not sent. */
  readonly off: ReadonlySet<string>
  /** How long a run may be overdue; null leaves the node its default. */
  readonly missingMs: Millis | null
  readonly problems: readonly Problem[]
}

export function parseAlertLimits(given: readonly string[], field: string): ParsedLimits {
  const limits: Record<Condition, number | null> = { ...alertDefaults }
  const problems: Problem[] = []
  const off = new Set<string>()
  let missingMs: Millis | null = null
  for (const item of given) {
    const [name, text = ''] = item.split('=').map(part => part.trim())
    if (isJobCondition(name)) {
      const ms = name === 'run_missing' ? readers.duration(text) : undefined
      if (text === 'off') off.add(name)
      else if (ms !== undefined && ms >= MISSING_MS_MIN) missingMs = ms
      else if (text !== 'on') problems.push({ field, value: item, rule: jobRules[name] })
      continue
    }
    if (!isCondition(name)) {
      const names = [...Object.keys(conditions), ...jobConditions]
      problems.push({ field, value: item, rule: `must name a condition: ${names.join(', ')}` })
      continue
    }
    const limit = text === 'off' ? null : readers[forms[name]](text)
    if (limit === undefined) problems.push({ field, value: item, rule: rules[forms[name]] })
    else limits[name] = limit
  }
  return { limits, off, missingMs, problems }
}

const MISSING_MS_MIN: Millis = 100
const ON_OFF = 'must be on or off'
const jobRules: Readonly<Record<JobCondition, string>> = {
  first_failure: ON_OFF,
  run_failed: ON_OFF,
  job_ended: ON_OFF,
  run_missing: 'must be a duration such as 30s or 5m, on or off',
}

function isJobCondition(name: string | undefined): name is JobCondition {
  return jobConditions.some(one => one === name)
}

function isCondition(name: string | undefined): name is Condition {
  return name !== undefined && Object.hasOwn(conditions, name)
}

/** Undefined when the text is none. */
const readers: Readonly<Record<Form, (text: string) => number | undefined>> = {
  share: text => {
    const value = text.endsWith('%') ? decimal(text.slice(0, -1)) / 100 : decimal(text)
    return value >= 0 && value <= 1 ? value : undefined
  },
  duration: text => {
    const ms = /^\d{1,12}$/.test(text) ? Number(text) : parseDuration(text)
    return ms !== null && ms > 0 && ms <= 30 * DAY ? ms : undefined
  },
  factor: text => {
    const value = decimal(text)
    return value >= 1 && value <= 1_000 ? value : undefined
  },
  count: text => {
    const value = /^\d{1,3}$/.test(text) ? Number(text) : 0
    return value >= 1 && value <= 100 ? value : undefined
  },
}

function decimal(text: string): number {
  return /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
}
