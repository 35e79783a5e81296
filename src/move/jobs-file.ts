// Jobs as a file: a label, and jobs in the words of the HTTP API. Everything that is wrong is told
// with its line.

import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import { cronFaultOf } from './crontab-fields.ts'
import { maskedIn } from './to-file.ts'

export interface FileJob {
  readonly definition: string
  readonly key: string
  readonly job: Readonly<Record<string, unknown>>
  readonly file: string
  readonly line: number
  /** The line of a field, or of the nearest thing around it. */
  readonly lineOf: (path: readonly string[]) => number
}

export interface FileProblem {
  readonly file: string
  readonly line: number
  readonly text: string
  /** The one it is about, if any. */
  readonly job: FileJob | null
}

export interface JobsFile {
  readonly app: string | null
  readonly tenant: string | null
  readonly generation: string | null
  readonly jobs: readonly FileJob[]
  readonly problems: readonly FileProblem[]
}

const heads = ['app', 'tenant', 'generation'] as const
const nothing = { app: null, tenant: null, generation: null, jobs: [] }

interface Reading {
  readonly file: string
  readonly document: Document
  readonly counter: LineCounter
  readonly problems: FileProblem[]
}

/** YAML, and JSON as a part of it. */
export function readJobsFile(file: string, text: string): JobsFile {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, merge: true }) as Document
  const problems = document.errors.map(error => ({
    file,
    line: counter.linePos(error.pos[0]).line,
    text: error.message.split('\n')[0]!.replace(/ at line .*$/, ''),
    job: null,
  }))
  if (problems.length > 0) return { ...nothing, problems }
  const reading: Reading = { file, document, counter, problems }
  const tree: unknown = document.toJS()
  if (!isTree(tree) || !Array.isArray(tree['jobs'])) {
    problems.push({ file, line: 1, text: 'must have a list named jobs', job: null })
    return { ...nothing, problems }
  }
  for (const name of Object.keys(tree)) {
    if (name === 'jobs' || heads.some(head => head === name)) continue
    complain(reading, [name], `${name} is not known here: app, tenant, generation or jobs`)
  }
  const jobs = tree['jobs'].flatMap((entry: unknown, i) => readEntry(reading, entry, i))
  const [app, tenant, generation] = heads.map(name => headOf(reading, tree, name))
  return { app: app!, tenant: tenant!, generation: generation!, jobs, problems }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function headOf(reading: Reading, tree: Readonly<Record<string, unknown>>, name: string) {
  const value = tree[name]
  if (value === undefined || value === null) return null
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number') return String(value)
  complain(reading, [name], `${name} must be a text`)
  return null
}

function readEntry(reading: Reading, entry: unknown, i: number): FileJob[] {
  const path = ['jobs', String(i)]
  if (!isTree(entry)) {
    complain(reading, path, 'a job must have a name and fields')
    return []
  }
  const { name, definition = name, key = 'main', ...job } = entry
  if (typeof name !== 'string' || name === '') {
    complain(reading, path, 'name is needed: the job is known again by it')
    return []
  }
  if (typeof key !== 'string' || typeof definition !== 'string') {
    complain(reading, path, 'key and definition must be texts')
    return []
  }
  const lineOf = (rest: readonly string[]) => lineAt(reading, [...path, ...rest])
  const { file } = reading
  const found = { definition, key, job: { name, ...job }, file, line: lineOf([]), lineOf }
  const add = (at: readonly string[], text: string) =>
    reading.problems.push({ file, line: lineOf(at), text: `${name}: ${text}`, job: found })
  const fault = cronFault(job['trigger'])
  if (fault !== null) add(['trigger', 'cron'], `trigger.cron ${fault}`)
  for (const masked of maskedIn(job['action'], 'action')) {
    add(masked.split('.'), `${masked} is hidden in exports: fill it in`)
  }
  return [found]
}

/** Said here already: the service only looks at it when everything else is well formed. */
function cronFault(trigger: unknown): string | null {
  if (!isTree(trigger) || typeof trigger['cron'] !== 'string') return null
  return trigger['dialect'] === 'posix' ? null : cronFaultOf(trigger['cron'])
}

function complain(reading: Reading, path: readonly string[], text: string): void {
  reading.problems.push({ file: reading.file, line: lineAt(reading, path), text, job: null })
}

/** As deep as the path leads. */
function lineAt({ document, counter }: Reading, path: readonly string[]): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    const pair = isMap(node)
      ? node.items.find(item => isPair(item) && isScalar(item.key) && item.key.value === step)
      : undefined
    const next: unknown =
      pair?.value ??
      (node as { get?: (key: number, keep: true) => unknown } | null)?.get?.(Number(step), true)
    const start = startOf(pair?.key) ?? startOf(next)
    if (start === null) break
    offset = start
    node = next
  }
  return counter.linePos(offset).line
}

function startOf(node: unknown): number | null {
  return (node as Node | null | undefined)?.range?.[0] ?? null
}
