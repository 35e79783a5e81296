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
import type { HttpLogger, Services } from '../../use-cases/call/call.ts'
import type { HttpSettings } from './settings.ts'

export type { HttpLogger }

export interface AppParts extends Services {
  readonly settings: HttpSettings
  /** The Prometheus text format. */
  readonly metricsText: () => Promise<string>
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
