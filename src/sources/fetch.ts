// One run of a source: page after page, each written in one transaction, within its rate limits.

import { createHash } from 'node:crypto'
import { pause } from '../actions/crawl/pace.ts'
import { OutboundError } from '../actions/guard/errors.ts'
import type { Outbound, OutboundAnswer } from '../actions/guard/outbound.ts'
import { forRedirect, type Step } from '../actions/guard/redirect.ts'
import { shownUrl } from '../actions/guard/url.ts'
import { backoffMs } from '../actions/http/action.ts'
import { retryAfterMs } from '../actions/http/answer.ts'
import { isSecretRef, revealed, type SecretLookup } from '../actions/secrets.ts'
import { slices } from '../actions/slices.ts'
import { canonicalJson, type Json } from '../core/json.ts'
import { currentRunOf } from '../core/run/current-run.ts'
import { iso, SECOND, type Instant } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Context } from '../engine/context.ts'
import { Defer, RetryAfter } from '../core/run/outcome.ts'
import { decodeAnswer } from './charset.ts'
import { isObject } from './check.ts'
import { AnswerTooComplex, parseAnswer } from './json-answer.ts'
import { Paging, type Sent } from './paging.ts'
import { valueAt } from './path.ts'
import type { RateLimits } from './rate-limits.ts'
import { driftOf, fingerprint, rowsOf } from './rows.ts'
import { fetchDefaults, type FetchDocument, type FetchLimits } from './source.ts'
import type { SourceTables } from './tables.ts'

export interface FetchParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly tables: SourceTables
  readonly rates: RateLimits
  readonly secrets: SecretLookup
  readonly userAgent: string
  readonly limits?: Partial<FetchLimits>
}

export class SourceFetch {
  readonly #parts: FetchParts
  readonly #source: FetchDocument
  readonly #context: Context
  readonly #limits: FetchLimits
  readonly #paging: Paging
  /** Tells a run that goes on from one that starts over. */
  readonly #series: string
  /** Of the whole run, earlier attempts included. */
  #sums = { records: 0, added: 0 }
  #hasWarned = false
  #bytes = 0
  /** Pages this attempt has written. */
  #written = 0

  constructor(parts: FetchParts, source: FetchDocument, context: Context) {
    this.#parts = parts
    this.#source = source
    this.#context = context
    this.#limits = { ...fetchDefaults, ...parts.limits }
    this.#paging = new Paging(source)
    this.#series = seriesOf(context, source)
  }

  async run(): Promise<Json> {
    this.#takeUp(this.#context.checkpoint)
    const { pagesMax } = this.#limits
    while (await this.#page()) {
      if (this.#paging.pages >= pagesMax) {
        throw new Error(`the source has more than ${pagesMax} pages`)
      }
      // Also asks whether the source is still there and ours to fetch.
      await this.#context.heartbeat(this.#checkpoint())
    }
    const { records, added } = this.#sums
    const result = { pages: this.#paging.pages, records, rows_added: added }
    this.#context.log.info(`${records} records, ${added} of them new`, result)
    return result
  }

  /** Fetches and writes one page; says whether another one follows. */
  async #page(): Promise<boolean> {
    const { response, name, table } = this.#source
    const { signal } = this.#context
    const { body, url } = await this.#answered()
    const records = this.#recordsOf(body)
    const drift = await slices.run(driftOf(records, response.fields), { signal })
    if (drift !== null) throw new Error(`page ${this.#paging.pages + 1}: ${drift}`)
    const rows = await slices.run(rowsOf(records, response.fields), { signal })
    signal.throwIfAborted()
    const added = await this.#parts.tables.write({
      tenant: this.#tenant,
      table,
      source: name,
      columns: response.fields.map(({ target }) => target),
      rows,
      at: this.#parts.clock.now(),
    })
    this.#written++
    this.#sums = { records: this.#sums.records + records.length, added: this.#sums.added + added }
    const print = fingerprint(rows)
    const hasMore = this.#paging.advance({ body, url, records: records.length, fingerprint: print })
    this.#measure()
    return hasMore
  }

  #measure(): void {
    this.#context.measure('pages', this.#paging.pages)
    this.#context.measure('records', this.#sums.records)
    this.#context.measure('rows_added', this.#sums.added)
  }

  #recordsOf(body: unknown): readonly unknown[] {
    const { dataPath } = this.#source.response
    const found = valueAt(body, dataPath)
    const where = dataPath === '.' ? 'the answer' : `the answer at ${dataPath}`
    if (!Array.isArray(found)) throw new Error(`${where} is not a list of records`)
    if (found.length > this.#limits.recordsMax) {
      throw new Error(`${where} has more than ${this.#limits.recordsMax} records`)
    }
    return found
  }

  async #answered(): Promise<{ readonly body: unknown; readonly url: string }> {
    const { status, body, headers, url } = await this.#request()
    const where = shownUrl(url)
    this.#bytes += body.length
    const { runBytesMax } = this.#limits
    if (this.#bytes > runBytesMax) {
      throw new Error(`the run fetched more than ${runBytesMax} bytes (runBytesMax)`)
    }
    if (status < 200 || status > 299) throw this.#refused(`${where} answered ${status}`, headers)
    return { body: await this.#parsed(body, headers['content-type'], where), url }
  }

  async #parsed(body: Buffer, contentType: string | undefined, where: string): Promise<unknown> {
    const { signal } = this.#context
    const decoded = await slices.run(decodeAnswer(body, contentType), { signal })
    if (decoded.unknown !== undefined) {
      throw new Error(`${where} answered in a charset that is not known here: ${decoded.unknown}`)
    }
    if (decoded.hasUnreadable && !this.#hasWarned) {
      this.#hasWarned = true
      this.#context.log.warn(`${where} answered with characters its charset does not have`)
    }
    try {
      return await slices.run(parseAnswer(decoded.text), { signal })
    } catch (error) {
      throw unreadable(error, where)
    }
  }

  /** A host may ask for more patience than the source has, never for less. */
  #refused(message: string, headers: OutboundAnswer['headers']): Error {
    const now = this.#parts.clock.now()
    const asked = retryAfterMs(headers['retry-after'], now)
    if (asked === null) return new Error(message)
    return new RetryAfter(Math.max(asked, backoffMs(this.#context, now)), message)
  }

  /** Redirects are followed here, so that each request is counted where it goes. */
  async #request(): Promise<OutboundAnswer> {
    const url = this.#paging.url(this.#params())
    let step: Step = { url, method: 'GET', headers: this.#headers(), body: null }
    for (let hops = 0; ; hops++) {
      const answer = await this.#send(step)
      const next = forRedirect(step, answer)
      if (next === null) return answer
      if (hops >= this.#limits.redirectsMax) {
        throw new Error(`${shownUrl(step.url)} redirects too often`)
      }
      step = next
    }
  }

  async #send({ url, headers }: Step): Promise<OutboundAnswer> {
    const { outbound, clock } = this.#parts
    await this.#turn(url)
    try {
      return await outbound.request({
        url,
        headers,
        signal: this.#context.signal,
        tenant: this.#tenant,
        // The run's own timeout comes first.
        totalMs: Math.max(0, this.#deadline - clock.now()) + SECOND,
        bodyBytes: this.#limits.bodyBytesMax,
      })
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      throw new Error(`${shownUrl(url)}: ${error.message}`, { cause: error })
    }
  }

  /** Waits for the domain's turn within the timeout, or puts the run off; neither is a failure. */
  async #turn(url: string): Promise<void> {
    const { rates, clock } = this.#parts
    // A URL that cannot be read is refused by the client, and counted nowhere.
    const host = URL.canParse(url) ? new URL(url).hostname : ''
    for (;;) {
      const freeAt = await rates.take(this.#tenant, host)
      if (freeAt === null) return
      const hasWorked = this.#written > 0
      if (!hasWorked || freeAt >= this.#deadline) {
        const reason = `the rate limit of ${host} is reached until ${iso(freeAt)}`
        throw new Defer(freeAt, reason, hasWorked)
      }
      await pause(clock, freeAt - clock.now(), this.#context.signal)
    }
  }

  get #tenant(): string {
    return this.#context.job.spec.tenant
  }

  get #deadline(): Instant {
    const { timeoutMs } = this.#context.job.spec
    return timeoutMs === null ? Infinity : this.#context.startedAt.getTime() + timeoutMs
  }

  #params(): Sent[] {
    return this.#source.params.map(({ name, value }) => [name, this.#valueOf(value)])
  }

  #headers(): Record<string, string> {
    const given = Object.entries(this.#source.headers).map(([name, value]) => [
      name.toLowerCase(),
      this.#valueOf(value),
    ])
    return {
      'user-agent': this.#parts.userAgent,
      accept: 'application/json',
      ...(Object.fromEntries(given) as Record<string, string>),
    }
  }

  #valueOf(value: unknown): string {
    if (!isSecretRef(value)) return String(value)
    return `${value.prefix ?? ''}${revealed(value, this.#tenant, this.#parts.secrets)}`
  }

  /** After a deferral or a crash the run goes on; after a failure it starts over at page 1. */
  #takeUp(checkpoint: Json | undefined): void {
    if (!isObject(checkpoint) || checkpoint.series !== this.#series) return
    this.#paging.restore(checkpoint.paging)
    const {
      records,
      added,
      bytes = 0,
    } = checkpoint as {
      readonly records: number
      readonly added: number
      /** Not in those of earlier versions. */
      readonly bytes?: number
    }
    this.#sums = { records, added }
    this.#bytes = bytes
    this.#context.log.info(`goes on after page ${this.#paging.pages}`)
  }

  #checkpoint(): Json {
    return { series: this.#series, paging: this.#paging.saved(), ...this.#sums, bytes: this.#bytes }
  }
}

/** The parser's own messages may quote the answer. */
function unreadable(error: unknown, where: string): unknown {
  if (error instanceof SyntaxError) return new Error(`${where} answered something that is not JSON`)
  return error instanceof AnswerTooComplex ? new Error(`${where} gave ${error.message}`) : error
}

/** Other for another run, after another failure, and when the source was changed. */
function seriesOf({ job }: Context, source: FetchDocument): string {
  const { run } = currentRunOf(job)
  const hash = createHash('sha256').update(canonicalJson(source)).digest('hex').slice(0, 16)
  return [run.run, run.failures, run.failingSince ?? '', hash].join('/')
}
