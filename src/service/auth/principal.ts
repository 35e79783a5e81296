// Who is calling and what they may do: three roles, one tenant, and `*` for admins of all.

import type { Reader } from '../../actions/action.ts'
import type { Actor } from '../../jobs/audit.ts'

export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/**
 * `open` needs nothing, `every-tenant` an admin of `*`; so does `metrics`, unless it is asked from
 * this machine.
 */
export type Access = Role | 'open' | 'every-tenant' | 'metrics'

/** Sees every tenant; only an admin may have it. */
export const EVERY_TENANT = '*'

export interface Identity {
  readonly sub: string
  readonly tenant: string
  readonly role: Role
}

export interface Principal extends Identity {
  /** How it was proven: browsers send cookies by themselves, so those need more care. */
  readonly by: 'token' | 'session' | 'open'
  /** The session it came with, if it did. */
  readonly sessionId?: string
}

/** No slash, so that a lane made of tenant and user cannot be that of someone else. */
export const tenantPattern = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,63}$/

export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** What this caller may see of the settings of actions. */
export function readerOf({ role }: Principal): Reader {
  return { mayEdit: mayAct(role, 'admin') }
}

export function maySee(principal: Principal, tenant: string): boolean {
  return principal.tenant === EVERY_TENANT || principal.tenant === tenant
}

/** The filter of every list; nothing at all for those who see everything. */
export function scopeOf(principal: Principal): { readonly tenant?: string } {
  return principal.tenant === EVERY_TENANT ? {} : { tenant: principal.tenant }
}

export function actorOf(principal: Principal, ip: string | null, requestId: string): Actor {
  return { sub: principal.sub, tenant: principal.tenant, ip, requestId }
}
