// Definitions from files: YAML or JSON, one or several to a file, or a folder of such files. All
// are read and checked before anything is done with any of them.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseAllDocuments, type YAMLError } from 'yaml'
import { refuse, SchedulerError, type Problem } from '../core/errors.ts'
import { checkSource, isObject } from '../sources/check.ts'

export interface Definition {
  /** The file, and which one of it when there are several. */
  readonly place: string
  readonly name: string
  /** As it was written: whoever stores it fills in the defaults. */
  readonly document: Readonly<Record<string, unknown>>
}

const endings = ['.yaml', '.yml', '.json']
const FILE_BYTES_MAX = 1024 * 1024
const FILES_MAX = 10_000

/** Throws one error that names every problem of every file. */
export function readDefinitions(paths: readonly string[]): readonly Definition[] {
  const files = paths.flatMap(filesOf)
  const read = files.map(readFile)
  const problems = read.flatMap(one => one.problems)
  const found = read.flatMap(one => one.found)
  const names = found.map(({ name }) => name)
  for (const [i, { place, name }] of found.entries()) {
    if (names.indexOf(name) === i) continue
    const first = found[names.indexOf(name)]!.place
    problems.push({ field: `${place}: name`, value: name, rule: `is used in ${first} already` })
  }
  refuse('SOURCE_INVALID', 'the definitions are not valid', problems)
  return found
}

function filesOf(path: string): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw invalid(path, 'does not exist')
  if (!stat.isDirectory()) return [path]
  const files = readdirSync(path)
    .filter(name => endings.includes(extname(name)))
    .toSorted()
    .map(name => join(path, name))
  if (files.length === 0) throw invalid(path, `holds no file that ends with ${endings.join(', ')}`)
  if (files.length > FILES_MAX) throw invalid(path, `holds more than ${FILES_MAX} files`)
  return files
}

function invalid(path: string, rule: string): SchedulerError {
  const problems = [{ field: path, value: '', rule }]
  return new SchedulerError('SOURCE_INVALID', `${path} ${rule}`, { problems })
}

interface Read {
  readonly found: readonly Definition[]
  readonly problems: readonly Problem[]
}

function readFile(path: string): Read {
  if (statSync(path).size > FILE_BYTES_MAX) {
    return { found: [], problems: [{ field: path, value: '', rule: 'is larger than 1 MiB' }] }
  }
  const parsed = parse(readFileSync(path, 'utf8'))
  if ('rule' in parsed) {
    return { found: [], problems: [{ field: path, value: '', rule: parsed.rule }] }
  }
  const { values } = parsed
  const all = values.map((value, i) =>
    definition(value, values.length > 1 ? `${path}#${i + 1}` : path),
  )
  return {
    found: all.flatMap(one => one.found),
    problems: all.flatMap(one => one.problems),
  }
}

/** JSON is YAML too. A list stands for its entries. */
function parse(text: string): { readonly values: readonly unknown[] } | { readonly rule: string } {
  const documents = parseAllDocuments(text, { uniqueKeys: true })
  const list = Array.isArray(documents) ? documents : []
  const wrong = list.flatMap(document => document.errors)[0]
  // Where it is and what kind of fault, not what is there: that may be a secret.
  if (wrong) {
    const [at] = wrong.linePos ?? []
    return {
      rule: `is neither YAML nor JSON${at ? ` at line ${at.line}` : ''}: ${reasonOf(wrong)}`,
    }
  }
  try {
    const values = list.flatMap(document => document.toJS({ maxAliasCount: 100 }) as unknown)
    return values.length === 0 ? { rule: 'is empty' } : { values }
  } catch {
    return { rule: 'has aliases that cannot be resolved' }
  }
}

/** The parser's own messages quote the text; its codes do not. */
function reasonOf({ code }: YAMLError): string {
  return code.toLowerCase().replaceAll('_', ' ')
}

function definition(value: unknown, place: string): Read {
  // Which hosts may be reached is known where it runs.
  const { document, problems } = checkSource(value, () => null)
  if (document !== null && isObject(value)) {
    return { found: [{ place, name: document.name, document: value }], problems: [] }
  }
  return {
    found: [],
    problems: problems.map(problem => ({ ...problem, field: `${place}: ${problem.field}` })),
  }
}
