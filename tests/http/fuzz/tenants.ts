// Who calls, what each tenant has of its own, and what must never be seen by the others.

import type { Random } from '../../support/random.ts'
import { roles, type Role } from '../../../src/service/auth/principal.ts'
import type { Service } from '../service.ts'

export const tenants = ['acme', 'globex', 'initech'] as const
export const kinds = [
  'jobs',
  'executions',
  'runs',
  'schedules',
  'workflows',
  'sources',
  'source-limits',
  'bulk',
  'tasks',
  'fair',
  'claims',
  'cursors',
]
const HELD_MAX = 200

export interface Caller {
  readonly name: string
  /** `*` for the admin of all; null without a valid token. */
  readonly tenant: string | null
  readonly role: Role | null
  readonly authorization: string | null
}

export async function callersOf(service: Service): Promise<readonly Caller[]> {
  const of = async (role: Role, tenant: string): Promise<Caller> => ({
    name: `${role} of ${tenant}`,
    tenant,
    role,
    // The same name in every tenant: it must not be enough to be known.
    authorization: `Bearer ${await service.token(role, tenant, role)}`,
  })
  const each = tenants.flatMap(tenant => roles.map(role => of(role, tenant)))
  const nobody = { tenant: null, role: null }
  return [
    ...(await Promise.all(each)),
    await of('admin', '*'),
    { ...nobody, name: 'nobody', authorization: null },
    { ...nobody, name: 'a forger', authorization: 'Bearer e30.e30.AAAA' },
  ]
}

/** Goes into names, payloads, notes and whatever else a tenant writes. */
export function secretOf(tenant: string | null): string {
  return `hush-${tenant === null || tenant === '*' ? 'free' : tenant}-hush`
}

/** What others may look for without saying the secret itself. */
export function stemOf(tenant: string): string {
  return `ush-${tenant.slice(0, 3)}`
}

const ID_MAX = 200
const idChar = /[\w:.-]/

/** Ids that hold the name of a tenant, such as those of its sources. */
function speakingIds(text: string): string[] {
  const found: string[] = []
  for (const name of tenants) {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      let [from, to] = [at, at + name.length]
      while (from > 0 && at - from < ID_MAX && idChar.test(text[from - 1]!)) from--
      while (to < text.length && to - at < ID_MAX && idChar.test(text[to]!)) to++
      found.push(text.slice(from, to))
    }
  }
  return found.filter(id => !tenants.some(name => id === name || id.includes(secretOf(name))))
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

export class Holdings {
  readonly #pools = new Map<string, string[]>()
  readonly #owners = new Map<string, string>()
  readonly #sent = new Map<string, Set<string>>()
  readonly #common = new Set<string>()

  /** One of the kind that the tenant has seen; undefined while there is none. */
  some(random: Random, tenant: string, kind: string): string | undefined {
    const pool = this.#pools.get(`${tenant} ${kind}`) ?? []
    return pool.length === 0 ? undefined : random.pick(pool)
  }

  keep(tenant: string, kind: string, id: string): void {
    const name = `${tenant} ${kind}`
    const pool = this.#pools.get(name) ?? []
    this.#pools.set(name, pool)
    if (pool.includes(id)) return
    pool.push(id)
    if (pool.length > HELD_MAX) pool.shift()
  }

  sent(tenant: string, text: string): void {
    const held = this.#sent.get(tenant) ?? new Set()
    this.#sent.set(tenant, held)
    for (const [id] of text.matchAll(uuid)) held.add(id)
    for (const id of speakingIds(text)) held.add(id)
  }

  /** The text without speaking ids that the tenant has asked for itself, now or before. */
  unsaid(tenant: string, text: string): string {
    const own = this.#sent.get(tenant)
    const said = speakingIds(text).filter(id => own?.has(id))
    return said.reduce((left, id) => left.replaceAll(id, ''), text)
  }

  /** A request for all tenants is in the audit of each of those it concerned. */
  common(requestId: unknown): void {
    this.#common.add(String(requestId))
  }

  /** Ids in the text that others were given and this tenant never said itself. */
  foreign(tenant: string, text: string): string[] {
    const own = this.#sent.get(tenant)
    const found: string[] = []
    for (const [id] of text.matchAll(uuid)) {
      if (own?.has(id) || this.#common.has(id)) continue
      const owner = this.#owners.get(id)
      if (owner === undefined) this.#owners.set(id, tenant)
      else if (owner !== tenant) found.push(`the id ${id} of ${owner}`)
    }
    return found
  }
}
