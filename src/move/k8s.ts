// CronJobs of Kubernetes: their policies have the same meaning here; their containers do not exist
// here, so what they run must be there on the node.

import { isMap, LineCounter, parseAllDocuments, type Document } from 'yaml'
import type { JobBody } from '../client/types.ts'
import { isZone } from '../cron/index.ts'
import { cronFaultOf } from './crontab-fields.ts'
import { named, type Found, type Note, type RawJob } from './found.ts'

type Tree = Readonly<Record<string, unknown>>

const BACKOFF_LIMIT = 6
const HISTORY = 3

interface Reading {
  readonly jobs: RawJob[]
  readonly notes: Note[]
  readonly zone: string
}

/** `zone` is where the controller runs, for those that name none. */
export function readCronJobs(text: string, { zone }: { readonly zone: string }): Found {
  const counter = new LineCounter()
  const reading: Reading = { jobs: [], notes: [], zone }
  for (const document of parseAllDocuments(text, { lineCounter: counter }) as Document[]) {
    for (const error of document.errors) {
      const { line } = counter.linePos(error.pos[0])
      reading.notes.push({ line, text: error.message.split('\n')[0]!, isConverted: false })
    }
    const line = counter.linePos(document.contents?.range?.[0] ?? 0).line
    if (document.errors.length > 0 || !isMap(document.contents)) continue
    const tree = document.toJS() as Tree
    const items = tree['kind'] === 'List' && Array.isArray(tree['items']) ? tree['items'] : [tree]
    for (const item of items as Tree[]) readItem(reading, item, line)
  }
  return { jobs: named(reading.jobs), notes: reading.notes }
}

function readItem(reading: Reading, item: Tree, line: number): void {
  if (item['kind'] !== 'CronJob') return
  const meta = treeOf(item['metadata'])
  const name = textOf(meta['name']) ?? 'cronjob'
  const space = textOf(meta['namespace'])
  const note = (text: string, isConverted: boolean) =>
    reading.notes.push({ line, text: `${name}: ${text}`, isConverted })
  const spec = treeOf(item['spec'])
  const trigger = triggerOf(spec, reading.zone)
  if ('fault' in trigger) {
    note(trigger.fault, false)
    return
  }
  const job = treeOf(treeOf(spec['jobTemplate'])['spec'])
  const pod = treeOf(treeOf(job['template'])['spec'])
  const [container, ...others] = Array.isArray(pod['containers'])
    ? (pod['containers'] as Tree[])
    : []
  const action = container === undefined ? null : actionOf(container, note)
  if (action === null) return
  if (others.length > 0) note(`only the first of ${others.length + 1} containers is taken`, true)
  const isSuspended = spec['suspend'] === true
  if (isSuspended) note('is suspended: it will be paused', true)
  reading.jobs.push({
    line,
    name,
    identity: `${space ?? ''}\0${name}`,
    body: {
      trigger,
      action,
      ...policiesOf(spec, job),
      tags: ['k8s', ...(space === null ? [] : [`namespace:${space}`])],
    },
    isSuspended,
  })
}

function triggerOf(spec: Tree, fallback: string) {
  const given = textOf(spec['schedule']) ?? ''
  const prefix = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(given)
  const timezone = textOf(spec['timeZone']) ?? prefix?.[1] ?? fallback
  const cron = (prefix?.[2] ?? given).trim()
  const every = /^@every\s+(\S+)$/.exec(cron)
  if (every) return { every: every[1]! }
  const fault = isZone(timezone) ? cronFaultOf(cron) : `${timezone} is no time zone known here`
  return fault === null ? { cron, timezone } : { fault }
}

function actionOf(
  container: Tree,
  note: (text: string, isConverted: boolean) => void,
): NonNullable<JobBody['action']> | null {
  const image = textOf(container['image']) ?? 'its image'
  const argv = [...textsOf(container['command']), ...textsOf(container['args'])]
  if (textsOf(container['command']).length === 0) {
    note(`what ${image} starts is not written here: give the container a command`, false)
    return null
  }
  note(`ran in ${image}: the program must be there on the node`, true)
  const cwd = textOf(container['workingDir'])
  const env: Record<string, string> = {}
  for (const one of Array.isArray(container['env']) ? (container['env'] as Tree[]) : []) {
    const name = textOf(one['name'])
    if (name === null) continue
    if (one['valueFrom'] === undefined) env[name] = valueText(one['value'])
    else note(`variable ${name} comes from the cluster and is left out`, true)
  }
  return {
    kind: 'command',
    argv,
    ...(cwd === null ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}

const overlaps = { Allow: 'allow', Forbid: 'skip', Replace: 'replace' } as const

/** A missed start is made up for once; failed pods are tried again after 10 s, doubling to 6 min. */
function policiesOf(spec: Tree, job: Tree): JobBody {
  const policy = textOf(spec['concurrencyPolicy']) ?? 'Allow'
  const late = numberOf(spec['startingDeadlineSeconds'])
  const kept =
    (numberOf(spec['successfulJobsHistoryLimit']) ?? HISTORY) +
    (numberOf(spec['failedJobsHistoryLimit']) ?? 1)
  return {
    overlap: overlaps[policy as keyof typeof overlaps] ?? 'allow',
    missed: 'once',
    ...(late === null ? {} : { late_limit_seconds: late }),
    timeout_seconds: numberOf(job['activeDeadlineSeconds']),
    retry: {
      limit: numberOf(job['backoffLimit']) ?? BACKOFF_LIMIT,
      backoff: { kind: 'exponential', base_seconds: 10, max_seconds: 360 },
      exhausted: 'next',
    },
    retention: { attempts: kept, age_seconds: 30 * 86_400 },
  }
}

function treeOf(value: unknown): Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {}
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
