// What the service is built from: everything comes in from outside, so a test can bring its own.

import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageSink } from '../../actions/crawl/pages.ts'
import type { Registry } from '../../actions/registry.ts'
import type { Engine } from '../../create-engine.ts'
import type { Sources } from '../../sources/sources.ts'
import type { Workflows } from '../../workflows/workflows.ts'
import type { Auth } from '../auth/authenticator.ts'
import type { HttpSettings } from './settings.ts'

/** A logger with pino's shape. */
export interface HttpLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface AppParts {
  readonly engine: Engine
  readonly actions: Registry
  readonly workflows: Workflows
  readonly sources: Sources
  /** Where crawled pages are found; null when this service keeps none. */
  readonly pages: PageSink | null
  readonly auth: Auth
  readonly settings: HttpSettings
  readonly version: string
  /** The Prometheus text format. */
  readonly metricsText: () => Promise<string>
  readonly log: HttpLogger | null
  /** Adds what follows requests, before anything else is added. */
  readonly instrument?: (app: App) => void
}

/** An app whose routes are typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** One concern's routes; every one of them is listed in `routes.ts`. */
export type Routes = (app: App, parts: AppParts) => void

export type Request = FastifyRequest
export type Reply = FastifyReply
