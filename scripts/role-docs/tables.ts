// What each role may do, as tables made from the OpenAPI document, where every operation says who
// may use it.

export type Access = 'open' | 'viewer' | 'operator' | 'admin' | 'every-tenant' | 'metrics'

export interface Operation {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly access: Access
}

interface Described {
  readonly 'x-access': Access
  readonly summary?: string
  readonly tags?: readonly string[]
}

export function operationsOf(document: string): Operation[] {
  const { paths } = JSON.parse(document) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', tags = [], ...described }]) => ({
      method: method.toUpperCase(),
      path,
      tag: tags[0] ?? 'other',
      summary,
      access: described['x-access'],
    })),
  )
}

/** From the first column that may. */
const columns = ['no token', 'viewer', 'operator', 'admin', 'admin of `*`'] as const
const firstColumn: Readonly<Record<Access, number>> = {
  open: 0,
  viewer: 1,
  operator: 2,
  admin: 3,
  'every-tenant': 4,
  metrics: 4,
}

const intro = `# Roles

Made from the OpenAPI document by \`npx tsx scripts/role-docs.ts\`, where \`x-access\` of every operation
says who may use it. A test asks each of them as everybody, on what is theirs and on what is another
tenant's.

| Role | May |
|---|---|
| \`viewer\` | read what belongs to the tenant, without secrets, and without queries and bodies of requests |
| \`operator\` | also run, pause, resume, cancel and retry, push tasks and work on them |
| \`admin\` | also make, change and remove: what is called, and with which secrets of the tenant |
| \`admin\` of \`*\` | all of it in every tenant |

What belongs to another tenant is 404, as if it did not exist. \`GET /metrics\` needs no token from the
machine itself; \`POST /api/v1/bulk\` with \`delete\` needs an admin.
`

export function rolesPage(document: string): string {
  const operations = operationsOf(document)
  const tags = [...new Set(operations.map(({ tag }) => tag))].toSorted()
  const sections = tags.map(tag => {
    const rows = operations.filter(one => one.tag === tag).map(rowOf)
    const head = `| Operation | ${columns.join(' | ')} |\n|---|${'---|'.repeat(columns.length)}`
    return `## ${capital(tag)}\n\n${head}\n${rows.join('\n')}\n`
  })
  return [intro, ...sections].join('\n')
}

function rowOf({ method, path, access }: Operation): string {
  const first = firstColumn[access]
  const cells = columns.map((_name, i) => (i >= first ? 'yes' : '–'))
  return `| \`${method} ${path}\` | ${cells.join(' | ')} |`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** One row for each part of the API: what every role may beyond the one before it. */
export function summaryTable(document: string): string {
  const operations = operationsOf(document)
  const tags = [...new Set(operations.map(({ tag }) => tag))].toSorted()
  const rows = tags.map(tag => {
    const cells = columns.map((_name, i) => {
      const added = operations.filter(one => one.tag === tag && firstColumn[one.access] === i)
      return [...new Set(added.map(verbOf))].join(', ') || '–'
    })
    return `| ${tag} | ${cells.join(' | ')} |`
  })
  const head = `| | ${columns.map(name => (name === 'no token' ? name : `${name} also`)).join(' | ')} |`
  return [head, `|---|${'---|'.repeat(columns.length)}`, ...rows].join('\n')
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'read',
  POST: 'create',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'remove',
}

const special: Readonly<Record<string, string>> = {
  'POST /api/v1/session': 'sign in',
  'DELETE /api/v1/session': 'sign out',
  'GET /metrics': 'read metrics',
  'POST /api/v1/demo': 'load demo',
  'DELETE /api/v1/demo': 'remove demo',
  'POST /api/v1/bulk': 'many at once',
  'DELETE /api/v1/bulk/{id}': 'stop',
}
const named = /\}\/[a-z-]+$|\/(?:batch|claim|preview|from-cron|batch-delete|reconcile)$/

/** `POST …/{id}/pause` is called pause, most other operations by their method. */
function verbOf({ method, path }: Operation): string {
  const isNamed = method === 'POST' && named.test(path)
  return special[`${method} ${path}`] ?? (isNamed ? path.split('/').at(-1)! : verbs[method]!)
}
