// Values that a schema of the document allows, with words for the fields whose rules it cannot say.

import type { Json } from '../../../src/core/json.ts'
import type { Random } from '../../support/random.ts'
import { START } from '../service.ts'
import { resolved, type Schema, type Schemas } from './document.ts'
import { secretOf, stemOf, tenants, type Caller, type Holdings } from './tenants.ts'

export type Wild = { [key: string]: Json }

const OPTIONAL = 0.25
const urls = ['https://example.com/a?b=1', 'http://example.org', 'http://10.0.0.1/', 'ftp://a.b/c']
const crons = ['*/5 * * * *', '0 9 * * MON-FRI', '@daily', '0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '?']
const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Mars/Olympus']
const handlers = [
  'work',
  'work',
  'task',
  'fails',
  'slow',
  'action:http',
  'constructor',
  '__proto__',
]
const edges = ['9999-12-31T23:59:59-14:00', '0000-01-01T00:00:00+14:00', '9000-12-31T23:59:59Z']
const words = ['ürün', '日本', '👩‍🚀', "';--", '%_', '<b>', '\u2028', '${x}', '../..']

/** By how a pattern begins: tables and columns, secrets, paths, domains. */
const patterned: readonly (readonly [string, readonly string[]])[] = [
  ['^[a-z_]', ['items', 'code', 'price', 'created_at']],
  ['^[A-Z]', ['API_KEY']],
  ['^(?:\\.|', ['.', 'data', 'data.items']],
  ['^(?:\\[', ['example.com', 'api.example.com']],
]

const flat = ['source_id', 'source_name', 'url', 'interval_minutes', 'interval_type']
const flatOnly = [...flat, 'schedule_time', 'schedule_enabled', 'max_retries']
const nativeOnly = ['trigger', 'action', 'handler', 'retry', 'payload', 'first']

export class Values {
  readonly #random: Random
  readonly #schemas: Schemas
  readonly #caller: Caller
  readonly #held: Holdings

  constructor(random: Random, schemas: Schemas, of: { caller: Caller; held: Holdings }) {
    this.#random = random
    this.#schemas = schemas
    this.#caller = of.caller
    this.#held = of.held
  }

  make(given: Schema, field = ''): Json {
    const random = this.#random
    const { name, schema } = resolved(given, this.#schemas)
    const said = this.#word(field, schema)
    if (said !== undefined && random.chance(0.95)) return said
    if (schema.anyOf) return this.make(random.pick(schema.anyOf), field)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return random.pick(schema.enum)
    const type = schema.type === undefined ? undefined : random.pick([schema.type].flat())
    switch (type) {
      case 'object':
        return this.#object(name, schema)
      case 'array':
        return this.#list(schema, field)
      case 'integer':
        return Math.round(this.#number(schema))
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return random.chance(0.5)
      case 'null':
        return null
      case 'string':
        return this.#text(schema)
      case undefined:
        return this.#anything()
    }
  }

  #object(name: string, schema: Schema): Json {
    const random = this.#random
    const made: Wild = {}
    const { properties = {}, required = [] } = schema
    for (const [key, one] of Object.entries(properties)) {
      if (one.readOnly && !random.chance(0.005)) continue
      if (required.includes(key) || random.chance(OPTIONAL)) made[key] = this.make(one, key)
    }
    if (Object.keys(properties).length === 0 && schema.propertyNames) {
      made[random.pick(['a', 'note', 'token'])] = this.#said()
    }
    this.#sensible(name.replace(/Input$/, ''), made, properties)
    return made
  }

  /** Rules between fields, so that a good share of what is made is accepted. */
  #sensible(name: string, made: Wild, properties: Readonly<Record<string, Schema>>): void {
    const random = this.#random
    const drop = (keys: readonly string[]) => keys.forEach(key => delete made[key])
    if (name === 'JobBody') {
      if (random.chance(0.35)) {
        drop(nativeOnly)
        for (const key of flat) made[key] ??= this.make(properties[key]!, key)
      } else {
        drop([...flatOnly, 'retry_backoff_seconds'])
        if (made.action === undefined) made.handler ??= 'work'
        else delete made.handler
      }
    } else if (name === 'BulkBody') {
      if (random.chance(0.7)) drop(['filter', 'expect'])
      else drop(['ids'])
      if (made.ids === undefined) made.filter ??= this.make(properties.filter!)
      if (made.filter !== undefined) made.expect ??= random.int(0, 5)
    } else if (name.startsWith('Source') && random.chance(0.9)) {
      delete made.offsetPagination
    } else if (name.startsWith('Workflow') && Array.isArray(made.steps)) {
      if (made.id !== undefined) made.id = random.int(1, 40)
      for (const [i, step] of (made.steps as Wild[]).entries()) {
        step.id = `s${i}`
        step.needs = i > 0 && random.chance(0.5) ? [`s${random.int(0, i - 1)}`] : []
        if (step.http === undefined) step.handler ??= 'work'
        else delete step.handler
      }
    }
  }

  #list({ items = {}, minItems = 0, maxItems = 3 }: Schema, field: string): Json[] {
    const length = this.#random.int(minItems, Math.min(maxItems, minItems + 3))
    return Array.from({ length }, () => this.make(items, field))
  }

  #number({ minimum = -1e6, maximum = 1e6 }: Schema): number {
    const random = this.#random
    if (random.chance(0.1)) return random.pick([minimum, maximum])
    // Mostly small ones: large ones are legal but make dull jobs.
    const top = Math.min(maximum, minimum + 10 ** random.int(1, 6))
    return minimum + random.next() * (top - minimum)
  }

  #text({ format, pattern = '', minLength = 0, maxLength = 60 }: Schema): string {
    const random = this.#random
    if (format === 'date-time') return this.#moment()
    if (pattern.startsWith('^[A-Za-z0-9')) return random.pick(['a', 'main', 'step-1'])
    for (const [start, picked] of patterned)
      if (pattern.startsWith(start)) return random.pick(picked)
    const text = `${this.#said()} ${random.pick(words)} ${random.int(0, 99)}`
    return text.slice(0, Math.max(minLength, Math.min(maxLength, 200)))
  }

  #moment(): string {
    const random = this.#random
    const far = 10 ** random.int(3, 12) * (random.chance(0.3) ? -1 : 1)
    const at = new Date(Date.parse(START) + Math.round(random.next() * far))
    return random.chance(0.1) ? random.pick(edges) : at.toISOString()
  }

  #said(): string {
    return secretOf(this.#caller.tenant)
  }

  #anything(): Json {
    const random = this.#random
    const said = this.#said()
    return random.pick<Json>([{ said, list: [1, said] }, said, [said], 7, null, { [said]: said }])
  }

  /** Own mostly, then those of others, then what never was. */
  id(kind: string): string {
    const random = this.#random
    const { tenant } = this.#caller
    const own = tenant === null || tenant === '*' ? random.pick(tenants) : tenant
    const whose = random.chance(0.75) ? own : random.pick(tenants)
    const held = this.#held.some(random, whose, kind)
    return held !== undefined && random.chance(0.92) ? held : random.pick(oddIds)
  }

  #word(field: string, schema: Schema): Json | undefined {
    const random = this.#random
    switch (field) {
      case 'url':
        return random.chance(0.8) ? urls[0] : random.pick(urls)
      case 'cron':
      case 'schedule_time':
      case 'compare':
        return random.pick(crons)
      case 'every':
        return random.pick<Json>(['30m', '6h', '1d', 90_000, '10s'])
      case 'timezone':
      case 'timezones':
        return schema.type === 'array' ? [random.pick(zones)] : random.pick(zones)
      case 'handler':
        return random.pick(handlers)
      case 'action':
        return schema.type === 'object' ? this.#action() : undefined
      case 'handlers':
        return random.chance(0.8) ? ['task', 'fair-schedule'] : [random.pick(handlers)]
      case 'queues':
        return ['default']
      case 'queue':
        return random.chance(0.7) ? 'default' : undefined
      case 'tenant':
        return random.pick([...tenants, 'nobody'])
      default:
        return this.#reference(field, schema)
    }
  }

  #reference(field: string, schema: Schema): Json | undefined {
    const random = this.#random
    switch (field) {
      case 'workflow_id':
        return schema.type === 'integer' ? Number(this.id('workflows')) || 1 : undefined
      case 'ids':
      case 'schedule_ids': {
        if (schema.type !== 'array') return undefined
        const kind = field === 'ids' ? random.pick(['jobs', 'jobs', 'runs']) : 'schedules'
        return Array.from({ length: random.int(1, 5) }, () => this.id(kind))
      }
      case 'job':
        return schema.type === 'string' ? this.id('jobs') : undefined
      case 'cursor':
      case 'after':
        return this.id('cursors')
      case 'q':
      case 'search':
        return random.chance(0.7) ? stemOf(random.pick(tenants)) : random.pick(words)
      case 'status':
        return /pending/.test(schema.pattern ?? '') ? 'scheduled,paused' : undefined
      case 'sort':
        return random.pick(['name', '-created_at', 'next_run_at', '-priority', 'status'])
      case 'schedule':
        return schema.type === 'string'
          ? random.pick(['daily', 'interval:5m', 'weekly'])
          : undefined
      case 'period':
      case 'retryResetPeriod':
        return random.pick(['1h', '7d', '1x'])
      case 'topics':
        return 'run,job'
      default:
        return undefined
    }
  }

  #action(): Json {
    const random = this.#random
    const url = random.pick(urls)
    return random.pick<Json>([
      { kind: 'http', url, method: 'POST', headers: { 'x-note': this.#said() }, body: { a: 1 } },
      { kind: 'crawl', url, source_id: this.#said(), source_name: 'site' },
      { kind: 'workflow', workflow_id: Number(this.id('workflows')) || 1 },
      { kind: 'command', argv: ['ls'] },
      { kind: random.pick(['constructor', '', 'nothing']) },
    ])
  }
}

export const oddIds: readonly string[] = [
  ['01a1e26b-2973-7000-bc7f-7045b8f3cf5f', '01a1e26b-2973-7000-bc7f-7045b8f3cf5f.1'],
  ['0', '-1', '1', '1.5', '1e3', '9007199254740993', '99999999999999999999', 'NaN', 'null'],
  ['...', '*', ' ', "' OR 1=1--", '__proto__', 'constructor', 'ﬁ日', '%', '\u0000', '\uFFFF'],
  ['a/b', 'a.1', 'x'.repeat(600), '1:1:1', 'eyJhIjoxfQ', '😀', '\\', '?', '#'],
].flat()
