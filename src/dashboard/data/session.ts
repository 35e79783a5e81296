// Who is looking: the role decides which buttons there are. The token itself is in a cookie that no
// script can read.

import { computed, signal } from '@preact/signals'
import type { z } from 'zod'
import type { principalSchema } from '../../service/http/session/routes.ts'
import { api, isSignedOut, url } from './api.ts'
import { problemFrom, type ApiProblem } from './problem.ts'

export type Session = z.output<typeof principalSchema>

const address = url<Session>('/session')

export const session = signal<Session | null>(null)
export const sessionProblem = signal<ApiProblem | null>(null)
export const isSessionKnown = signal(false)

const order = ['viewer', 'operator', 'admin'] as const

export function mayAct(needed: (typeof order)[number]): boolean {
  const role = session.value?.role ?? 'viewer'
  return order.indexOf(role) >= order.indexOf(needed)
}

export const isOperator = computed(() => mayAct('operator'))
export const isAdmin = computed(() => mayAct('admin'))
export const seesEveryTenant = computed(() => session.value?.tenant === '*')

/** Asks who we are; a code in the address is exchanged first and then forgotten. */
export async function openSession(): Promise<void> {
  try {
    const code = takeCode()
    if (code !== null) await api.post(address, { code }).catch(() => {})
    session.value = await api.get(address)
    isSignedOut.value = false
    sessionProblem.value = null
  } catch (error) {
    const problem = problemFrom(error)
    sessionProblem.value = problem.status === 401 ? null : problem
  }
  isSessionKnown.value = true
}

/** A link of the first start ends in `#code=…`: it must not stay in the history. */
function takeCode(): string | null {
  const found = /^#code=([0-9a-f]{16,200})$/.exec(location.hash)
  if (!found) return null
  history.replaceState(null, '', location.pathname + location.search)
  return found[1]!
}

export async function signIn(pasted: string): Promise<void> {
  const text = pasted.trim()
  const code = /(?:#code=|^)([0-9a-f]{64})$/.exec(text)?.[1]
  await api.post(address, code === undefined ? { token: text } : { code })
  await openSession()
}

export async function signOut(): Promise<void> {
  await api.delete(address)
  session.value = null
  isSignedOut.value = true
}
