// The routes a desk has so far, and which of them a path means. It takes them as Fastify does, so the
// same functions add them to both.

import type { RouteOptions } from 'fastify'
import type { App } from '../app/parts.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { assertAccess } from '../../auth/access.ts'

export type Route = Pick<
  RouteOptions,
  'url' | 'config' | 'schema' | 'preValidation' | 'handler' | 'attachValidation'
> & {
  readonly parts: readonly string[]
}

export interface Found {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

const PARAM_LENGTH_MAX = 500

export class RouteTable {
  readonly #byMethod = new Map<string, Route[]>()
  readonly #closing: (() => unknown)[] = []

  /** What a function of routes is given: it adds routes, and what is to be done at the end. */
  get app(): App {
    const face = {
      route: (options: RouteOptions) => this.#add(options),
      addHook: (name: string, hook: () => unknown) => {
        // Nobody listens here, so what waits for that never happens.
        if (name === 'preClose' || name === 'onClose') this.#closing.push(hook)
      },
    }
    // Routes use no more of an app than this; a test adds all of them here and to a real one.
    return face as unknown as App
  }

  #add(options: RouteOptions): void {
    assertAccess(options)
    const route = { ...options, parts: partsOf(options.url) }
    for (const method of [options.method].flat()) {
      const held = this.#byMethod.get(method) ?? []
      this.#byMethod.set(method, [...held, route])
    }
  }

  /** A route that names a part wins over one that takes any. */
  find(method: string, path: string): Found | null {
    const given = partsOf(path)
    const fitting = (this.#byMethod.get(method) ?? []).filter(({ parts }) => fits(parts, given))
    const [route] = fitting.toSorted((a, b) => taken(a) - taken(b))
    return route ? { route, params: paramsOf(route.parts, given) } : null
  }

  async close(): Promise<void> {
    for (const hook of this.#closing.splice(0)) await hook()
  }
}

/** A slash at the end means nothing. */
function partsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1)
}

function isParam(part: string): boolean {
  return part.startsWith(':')
}

function taken({ parts }: Route): number {
  return parts.filter(isParam).length
}

function fits(parts: readonly string[], given: readonly string[]): boolean {
  if (parts.length !== given.length) return false
  return parts.every((part, i) => (isParam(part) ? given[i] !== '' : part === given[i]))
}

function paramsOf(parts: readonly string[], given: readonly string[]): Record<string, string> {
  const pairs = parts.flatMap((part, i) =>
    isParam(part) ? [[part.slice(1), decoded(given[i]!)] as const] : [],
  )
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text)
    if (text.length <= PARAM_LENGTH_MAX) return value
  } catch {
    // A text that stands for nothing names nothing.
  }
  throw notFound()
}
