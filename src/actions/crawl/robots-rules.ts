// The rules of a robots.txt (RFC 9309) for one crawler. Reading and applying them takes time that
// grows with the length of the file, whatever is written in it.

import { URL_MAX } from '../guard/url.ts'
import type { Steps } from '../slices.ts'

/** What RFC 9309 asks a crawler to read at least; the rest of a longer file is left out. */
export const ROBOTS_BYTES_MAX = 500 * 1024
const LINES_PER_STEP = 256
const RULES_PER_STEP = 16
/** A longer pattern has more characters between its wildcards than any path: it fits none. */
const PATTERN_MAX = 2 * URL_MAX + 3

const ruleFields: ReadonlySet<string> = new Set(['allow', 'disallow', 'crawl-delay'])

interface Rule {
  readonly isAllowing: boolean
  /** Of rules that fit, the longest one counts. */
  readonly length: number
  /** Literal parts between wildcards. */
  readonly parts: readonly string[]
  /** Shorter paths cannot fit. */
  readonly lengthMin: number
  /** Whether the pattern must reach to the end of the path. */
  readonly isAnchored: boolean
}

interface Group {
  readonly rules: Rule[]
  delaySeconds: number | null
}

export interface RobotsRules {
  /** Path and query as they are sent. */
  allows(path: string): Steps<boolean>
  readonly delaySeconds: number
}

export function* parseRobots(text: string, agent: string): Steps<RobotsRules> {
  const groups = new Map<string, Group>([agent, '*'].map(name => [name, noRules()]))
  const known = new Set<string>()
  let names: string[] = []
  let isNaming = false
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (i % LINES_PER_STEP === 0) yield
    const { field, value } = fieldOf(line)
    if (field === '') continue
    if (field !== 'user-agent') {
      isNaming = false
      if (!ruleFields.has(field)) continue
      for (const name of names) {
        known.add(name)
        note(groups.get(name)!, field, value)
      }
      continue
    }
    if (!isNaming) names = []
    isNaming = true
    const name = productOf(value)
    if (!groups.has(name)) continue
    if (!names.includes(name)) names.push(name)
  }
  // A group of one's own replaces that of everyone, unless it says nothing at all.
  return rulesOf(groups.get(known.has(agent) ? agent : '*')!)
}

function noRules(): Group {
  return { rules: [], delaySeconds: null }
}

function fieldOf(line: string): { readonly field: string; readonly value: string } {
  const [plain = ''] = line.split('#', 1)
  const at = plain.indexOf(':')
  if (at < 0) return { field: '', value: '' }
  return { field: plain.slice(0, at).trim().toLowerCase(), value: plain.slice(at + 1).trim() }
}

/** `Carillon/1.0` names the same crawler as `carillon`. */
function productOf(value: string): string {
  return value.toLowerCase().split('/', 1)[0]!.trim()
}

function note(group: Group, field: string, value: string): void {
  if (value === '') return
  if (field === 'allow' || field === 'disallow') {
    const pattern = value.replace(/\*{2,}/g, '*')
    if (pattern.length > PATTERN_MAX) return
    const rule = ruleOf(pattern, field === 'allow')
    // The longest pattern as it was written counts.
    group.rules.push({ ...rule, length: rule.length + value.length - pattern.length })
  } else if (field === 'crawl-delay' && !Number.isNaN(Number(value))) {
    group.delaySeconds = Number(value)
  }
}

function ruleOf(value: string, isAllowing: boolean): Rule {
  const pattern = encoded(value)
  const isAnchored = pattern.endsWith('$')
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split('*')
  const lengthMin = parts.reduce((sum, { length }) => sum + length, 0)
  return { isAllowing, length: pattern.length, parts, lengthMin, isAnchored }
}

/** As the paths of URLs are written. */
function encoded(pattern: string): string {
  try {
    return upperEscapes(encodeURI(pattern).replaceAll('%25', '%'))
  } catch {
    return pattern
  }
}

function upperEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, escape => escape.toUpperCase())
}

function rulesOf({ rules, delaySeconds }: Group): RobotsRules {
  return { delaySeconds: delaySeconds ?? 0, allows: path => allowed(rules, upperEscapes(path)) }
}

function* allowed(rules: readonly Rule[], path: string): Steps<boolean> {
  let best: Rule | null = null
  for (const [i, rule] of rules.entries()) {
    if (i % RULES_PER_STEP === 0) yield
    const isBetter =
      best === null ||
      rule.length > best.length ||
      (rule.length === best.length && rule.isAllowing && !best.isAllowing)
    if (isBetter && fits(rule, path)) best = rule
  }
  return best?.isAllowing ?? true
}

/** Each part where it is first found after the one before: with wildcards between, no other place helps. */
function fits({ parts, lengthMin, isAnchored }: Rule, path: string): boolean {
  if (path.length < lengthMin) return false
  const [first = '', ...others] = parts
  if (!path.startsWith(first)) return false
  if (others.length === 0) return !isAnchored || path.length === first.length
  const last = isAnchored ? others.pop()! : ''
  let at = first.length
  for (const part of others) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return !isAnchored || (path.length - at >= last.length && path.endsWith(last))
}
