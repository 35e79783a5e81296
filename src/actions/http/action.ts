// The http action: calls a URL once per attempt, signed, and reads its answer.

import type { Json, JsonObject } from '../../core/json.ts'
import { retryDelayMs, withFailure } from '../../core/retry.ts'
import { serviceOf } from '../../core/service.ts'
import type { Instant, Millis } from '../../core/time.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Context } from '../../engine/context.ts'
import { EndJob, NoRetry, RetryAfter } from '../../engine/verdicts.ts'
import type { Action, ActionCall } from '../action.ts'
import { OutboundError } from '../guard/errors.ts'
import type { Outbound, OutboundAnswer } from '../guard/outbound.ts'
import { shownUrl } from '../guard/url.ts'
import { verdictOf } from './answer.ts'
import {
  checkHttp,
  httpSettings,
  isBodiless,
  secretsOf,
  shownHttp,
  withoutSecrets,
  type HttpSettings,
} from './settings.ts'
import { signature, webhookId } from './sign.ts'

/** What is kept of an answer. */
export const ANSWER_BYTES_MAX = 4_096

export interface HttpParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly userAgent: string
}

export function httpAction(parts: HttpParts): Action<HttpSettings> {
  return {
    kind: 'http',
    isAllowed: true,
    schema: httpSettings,
    check: (settings, field) => checkHttp(settings, field, parts.outbound.allow),
    shown: shownHttp,
    perform: (settings, call) => perform(parts, settings, call),
  }
}

async function perform(
  parts: HttpParts,
  settings: HttpSettings,
  { context, payload }: ActionCall,
): Promise<Json> {
  const { clock, outbound } = parts
  const startedAt = clock.now()
  const body = bodyOf(settings, payload)
  const answer = await outbound
    .request({
      url: settings.url,
      method: settings.method,
      headers: headersOf(parts, settings, context, body ?? ''),
      body,
      signal: context.signal,
      totalMs: settings.timeout_seconds * 1_000,
      bodyBytes: ANSWER_BYTES_MAX,
      overflow: 'cut',
    })
    .catch((error: unknown) => {
      throw asVerdict(error, settings)
    })
  const kept = keptOf(answer, secretsOf(settings))
  const took = clock.now() - startedAt
  context.log.info(`${settings.method} ${shownUrl(settings.url)}: ${answer.status}`, {
    status: answer.status,
    duration_ms: took,
  })
  return concluded(kept, answer, context, clock.now())
}

function bodyOf({ method, body }: HttpSettings, payload: Json): string | null {
  if (isBodiless(method)) return null
  if (typeof body === 'string') return body
  return JSON.stringify(body === undefined ? payload : body)
}

function headersOf(
  { clock, userAgent }: HttpParts,
  settings: HttpSettings,
  context: Context,
  body: string,
): Record<string, string> {
  const id = webhookId(context.runId)
  const timestamp = Math.floor(clock.now() / 1_000)
  const given = lowered(settings.headers)
  const contentType = typeof settings.body === 'string' ? 'text/plain' : 'application/json'
  const signed = signature({ id, timestamp, body }, settings.secrets)
  return {
    'user-agent': userAgent,
    ...(isBodiless(settings.method) ? {} : { 'content-type': contentType }),
    ...given,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(signed === '' ? {} : { 'webhook-signature': signed }),
    'carillon-attempt': String(context.attempt),
    'carillon-fence': String(context.fence),
    'carillon-scheduled-for': context.scheduledFor.toISOString(),
  }
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

/** A URL that is not allowed will not be allowed next time; everything else may pass. */
function asVerdict(error: unknown, { url }: HttpSettings): unknown {
  if (!(error instanceof OutboundError)) return error
  const message = `${shownUrl(url)}: ${error.message}`
  return error.fault === 'refused' ? new NoRetry(message) : new Error(message)
}

function keptOf(answer: OutboundAnswer, secrets: readonly string[]): JsonObject {
  const { status, headers, body, isCut } = answer
  const type = headers['content-type'] ?? ''
  return {
    status,
    content_type: type.slice(0, 200),
    body: withoutSecrets(body.toString(), secrets),
    is_cut: isCut,
  }
}

function concluded(
  kept: JsonObject,
  { status, headers }: OutboundAnswer,
  context: Context,
  now: Instant,
): Json {
  const verdict = verdictOf(status, headers['retry-after'], now)
  if (verdict.kind !== 'done') context.log.warn(`answered ${status}`, kept)
  switch (verdict.kind) {
    case 'done':
      return kept
    case 'gone':
      throw new EndJob('the receiver answered 410 Gone and wants no more requests: job disabled')
    case 'final':
      throw new NoRetry(`the receiver answered ${status}, which no retry will change`)
    case 'again': {
      const message = `the receiver answered ${status}`
      if (verdict.afterMs === null) throw new Error(message)
      throw new RetryAfter(Math.max(verdict.afterMs, backoffMs(context, now)), message)
    }
  }
}

/** A receiver may ask for more patience than the job has, never for less. */
export function backoffMs({ job, runId }: Context, now: Instant): Millis {
  const { spec } = job
  const { failures } = withFailure(serviceOf(job).run, spec.retry.resetAfterMs, now)
  return retryDelayMs(spec, failures, runId)
}
