// Refuses options of a worker that cannot hold, all problems at once. Its own few lines: a worker
// runs where nothing else of Carillon does.

type Rule = readonly [rule: string, holds: (value: unknown) => boolean]

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isFunction = (value: unknown): boolean => typeof value === 'function'

function isNumber(min: number): Rule {
  const holds = (value: unknown) => typeof value === 'number' && value >= min && value < Infinity
  return [`a number of at least ${min}`, holds]
}

const texts: Rule = ['a list of texts', value => Array.isArray(value) && value.every(isText)]
const fn: Rule = ['a function', isFunction]

/** Every option there is. */
export const rules = {
  url: [
    'the address of a service, such as http://127.0.0.1:8080',
    (value: unknown) => isText(value) && /^https?:[/][/][^/]/.test(value as string),
  ],
  token: ['a text or a function', (value: unknown) => isText(value) || isFunction(value)],
  run: fn,
  name: ['a text that is not empty', isText],
  concurrency: isNumber(1),
  queues: texts,
  handlers: texts,
  users: texts,
  steal: texts,
  waitSeconds: isNumber(0),
  leaseSeconds: isNumber(1),
  timeoutMs: isNumber(1),
  onError: fn,
  fetch: fn,
  ambient: ['an object', (value: unknown) => typeof value === 'object' && value !== null],
} as const satisfies Readonly<Record<string, Rule>>

const required = ['url', 'token', 'run', 'name'] as const

/** Throws one error that names every problem. */
export function refuseOptions(options: unknown): void {
  const given = typeof options === 'object' && options !== null ? options : {}
  const problems: string[] = []
  for (const name of required) {
    if ((given as Readonly<Record<string, unknown>>)[name] === undefined)
      problems.push(`${name}: is required and must be ${rules[name][0]} (got nothing)`)
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const rule: Rule | undefined = Object.hasOwn(rules, name)
      ? rules[name as keyof typeof rules]
      : undefined
    if (rule === undefined)
      problems.push(`${name}: is not an option; known are ${Object.keys(rules).join(', ')}`)
    else if (!rule[1](value)) problems.push(`${name}: must be ${rule[0]} (got ${shown(value)})`)
  }
  if (problems.length > 0) throw new Error(`the worker cannot be made: ${problems.join('; ')}`)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
