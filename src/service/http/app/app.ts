// The service put together: one Fastify app over an engine. It neither opens nor closes the engine.

import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { auditCountsOf } from '../../../jobs/audit-counts.ts'
import { guardRoutes } from '../guard/access.ts'
import { readJson } from './body.ts'
import { answerClientError, receiveLimits } from './client-errors.ts'
import { answerCompiler, compileValidator } from './compile.ts'
import { addHooks, answerUnreadable, requestId } from './hooks.ts'
import { describeApi } from './openapi.ts'
import type { App, AppParts, Routes } from './parts.ts'
import { trustIn } from './proxies.ts'
import { routes } from './routes.ts'

const PARAM_LENGTH_MAX = 500
/** Seen addresses and tokens whose rates are remembered. */
const RATES_HELD = 10_000

/** Ready to be listened with, or asked with `inject`. */
export async function createApp(parts: AppParts, more: readonly Routes[] = []): Promise<App> {
  const { settings, engine } = parts
  const limits = receiveLimits(settings.requestTimeoutMs)
  const app: App = Fastify({
    logger: false,
    ...(settings.trustedProxies === false ? {} : { trustProxy: trustIn(settings.trustedProxies) }),
    bodyLimit: settings.bodyBytesMax,
    requestTimeout: limits.requestTimeout,
    http: limits,
    clientErrorHandler: answerClientError(engine.ids),
    connectionTimeout: settings.requestTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PARAM_LENGTH_MAX },
    requestIdHeader: false,
    // Given here too, or compilers that are never used are loaded first.
    schemaController: {
      compilersFactory: {
        buildValidator: (() => compileValidator) as never,
        buildSerializer: (() => answerCompiler(settings.checksAnswers)) as never,
      },
    },
    frameworkErrors: (error, request, reply) => void answerUnreadable(error, request, reply),
    genReqId: ({ headers }) => requestId(headers, engine.ids),
  })
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(answerCompiler(settings.checksAnswers))
  parts.instrument?.(app)
  readJson(app, parts)
  addHooks(app, parts)
  await app.register(rateLimit, { global: false, cache: RATES_HELD })
  const about = settings.describesApi ? [describeApi(app, parts)] : []
  await app.register(async scope => {
    const typed = scope as unknown as App
    guardRoutes(typed, parts)
    for (const add of [...routes, ...about, ...more]) add(typed, parts)
  })
  // What was counted for the audit is written before the store is closed.
  app.addHook('onClose', async () => {
    await auditCountsOf(engine)
      .flush()
      .catch((error: unknown) => {
        parts.log?.warn({ err: error }, 'counts not written to the audit')
      })
  })
  await app.ready()
  return app
}
