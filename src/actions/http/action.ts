// The http action: calls a URL once per attempt, signed, and reads its answer.

import type { Json, JsonObject } from '../../core/json.ts'
import { retryDelayMs, withFailure } from '../../core/run/retry.ts'
import { currentRunOf } from '../../core/run/current-run.ts'
import type { Instant, Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Context } from '../../engine/context.ts'
import { EndJob, NoRetry, RetryAfter } from '../../core/run/outcome.ts'
import type { Action, ActionCall } from '../action.ts'
import { OutboundError } from '../guard/errors.ts'
import type { Outbound, OutboundAnswer } from '../guard/outbound.ts'
import { shownUrl } from '../guard/url.ts'
import { Masking } from '../masking.ts'
import { referenceRule, type SecretLookup, type SecretRef } from '../secrets.ts'
import { verdictOf } from './answer.ts'
import { reveal, secretProblems, type Revealed } from './secrets.ts'
import { checkHttp, httpSettings, isBodiless, shownHttp, type HttpSettings } from './settings.ts'
import { signature, webhookId } from './sign.ts'

/** What is kept of an answer. */
export const ANSWER_BYTES_MAX = 4_096

export interface HttpParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly userAgent: string
  /** Where secrets that settings name are looked up, tenant by tenant. */
  readonly secrets: SecretLookup
}

export function httpAction(parts: HttpParts): Action<HttpSettings> {
  const { outbound, secrets } = parts
  return {
    kind: 'http',
    isAllowed: true,
    schema: httpSettings,
    check: (settings, field, author) => {
      const problems = checkHttp(settings, field, outbound.allow)
      // Stored ones fail at the run: the node that gets the secret later goes on.
      if (author === undefined) return problems
      const ruleOf = (ref: SecretRef) => referenceRule(ref, author.tenant, secrets)
      return [...problems, ...secretProblems(settings, field, ruleOf)]
    },
    shown: shownHttp,
    resource: ({ url }, tenant) => parts.outbound.hosts.of(url, tenant),
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
  const revealed = reveal(settings, context.job.spec.tenant, parts.secrets)
  const masking = new Masking(revealed.hidden)
  const body = bodyOf(settings, revealed, payload)
  const answer = await outbound
    .request({
      url: revealed.url,
      method: settings.method,
      headers: headersOf(parts, { settings, revealed, body: body ?? '' }, context),
      body,
      signal: context.signal,
      hasPermit: context.hasPermit,
      tenant: context.job.spec.tenant,
      totalMs: settings.timeout_seconds * 1_000,
      bodyBytes: ANSWER_BYTES_MAX,
      overflow: 'cut',
    })
    .catch((error: unknown) => {
      throw asVerdict(error, settings, masking)
    })
  const kept = keptOf(answer, masking)
  const took = clock.now() - startedAt
  context.log.info(`${settings.method} ${shownUrl(settings.url)}: ${answer.status}`, {
    status: answer.status,
    duration_ms: took,
  })
  return concluded(kept, answer, context, clock.now())
}

function bodyOf({ method, body }: HttpSettings, revealed: Revealed, payload: Json): string | null {
  if (isBodiless(method)) return null
  if (typeof body === 'string') return body
  return JSON.stringify(body === undefined ? payload : revealed.body)
}

interface Sending {
  readonly settings: HttpSettings
  readonly revealed: Revealed
  readonly body: string
}

function headersOf(
  { clock, userAgent }: HttpParts,
  { settings, revealed, body }: Sending,
  context: Context,
): Record<string, string> {
  const id = webhookId(context.runId)
  const timestamp = Math.floor(clock.now() / 1_000)
  const given = lowered(revealed.headers)
  const contentType = typeof settings.body === 'string' ? 'text/plain' : 'application/json'
  const signed = signature({ id, timestamp, body }, revealed.secrets)
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
function asVerdict(error: unknown, { url }: HttpSettings, masking: Masking): unknown {
  if (!(error instanceof OutboundError)) return error
  const message = masking.masked(`${shownUrl(url)}: ${error.message}`)
  return error.fault === 'refused' ? new NoRetry(message) : new Error(message)
}

function keptOf(answer: OutboundAnswer, masking: Masking): JsonObject {
  const { status, headers, body, isCut } = answer
  const type = headers['content-type'] ?? ''
  const text = body.toString()
  return {
    status,
    content_type: masking.masked(type).slice(0, 200),
    body: isCut ? masking.maskedCut(text) : masking.masked(text),
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
  const { failures } = withFailure(currentRunOf(job).run, spec.retry.resetAfterMs, now)
  return retryDelayMs(spec, failures, runId)
}
