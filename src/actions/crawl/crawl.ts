// One crawl: page after page within its limits, each kept, counted and told about.

import { createHash } from 'node:crypto'
import { jsonBytes, type Json, type JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Context } from '../../engine/context.ts'
import { RetryAfter, Skip } from '../../core/run/outcome.ts'
import { OutboundError } from '../guard/errors.ts'
import type { Outbound } from '../guard/outbound.ts'
import { shownUrl } from '../guard/url.ts'
import { retryAfterMs } from '../http/answer.ts'
import { slices, TookTooLong, type Steps } from '../slices.ts'
import { Frontier, type Spot } from './frontier.ts'
import { pause, type HostPace } from './pace.ts'
import { readPage, requestPage, type Fetched } from './page.ts'
import type { PageSink } from './pages.ts'
import { Robots } from './robots.ts'
import type { CrawlSettings } from './settings.ts'

export interface CrawlParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly pages: PageSink
  readonly pace: HostPace
  /** The name robots.txt may address. */
  readonly agent: string
  readonly userAgent: string
}

/** Pages and time between two checkpoints. */
const CHECKPOINT_PAGES = 25
const CHECKPOINT_MS = 5_000
/** Refusals in a row after which the host is left in peace until the next attempt. */
const BUSY_MAX = 3
const BUSY_WAIT_MAX = 30_000
const SILENT_MAX = 5
const LINES_MAX = 200
/** Links offered between two steps. */
const LINKS_PER_STEP = 50

export class Crawl {
  readonly #parts: CrawlParts & { readonly tenant: string }
  readonly #settings: CrawlSettings
  readonly #context: Context
  readonly #frontier: Frontier
  readonly #robots: Robots
  readonly #texts = new Set<string>()
  /** Of the whole run, earlier attempts included. */
  #sums = { crawled: 0, indexed: 0, failed: 0, unanswered: 0, skipped: 0 }
  /** What this attempt added. */
  #own = { crawled: 0, indexed: 0 }
  #startedAt: Instant
  #savedAt: Instant
  #sinceSaved = 0
  #busy = 0
  #silent = 0
  #lines = 0

  constructor(given: CrawlParts, settings: CrawlSettings, context: Context) {
    const parts = { ...given, tenant: context.job.spec.tenant }
    this.#parts = parts
    this.#settings = settings
    this.#context = context
    this.#frontier = new Frontier(settings)
    this.#robots = new Robots(parts)
    this.#startedAt = parts.clock.now()
    this.#savedAt = this.#startedAt
  }

  async run(): Promise<Json> {
    this.#takeUp(this.#context.checkpoint)
    this.#count()
    for (let spot = this.#frontier.next(); spot; spot = this.#frontier.next()) {
      await this.#visit(spot).catch((error: unknown) => this.#leave(spot, error))
      this.#tell()
      await this.#save(false)
    }
    return this.#finish()
  }

  /** The next attempt begins with this page; a lease that is lost keeps what was saved before. */
  async #leave(spot: Spot, error: unknown): Promise<never> {
    this.#frontier.again(spot)
    this.#count()
    await this.#save(true).catch(() => {})
    throw error
  }

  #takeUp(checkpoint: Json | undefined): void {
    const saved = isObject(checkpoint) ? checkpoint : null
    if (saved && isObject(saved.frontier) && this.#frontier.restore(saved.frontier)) {
      const { crawled, indexed, failed, unanswered, skipped, startedAt } = saved
      this.#sums = {
        crawled: whole(crawled),
        indexed: whole(indexed),
        failed: whole(failed),
        unanswered: whole(unanswered),
        skipped: whole(skipped),
      }
      this.#startedAt = whole(startedAt)
      this.#context.log.info('crawl resumed', { ...this.#sums, waiting: this.#frontier.waiting })
    } else this.#frontier.offer(new URL(this.#settings.url), 0)
  }

  async #visit(spot: Spot): Promise<void> {
    const url = new URL(spot.url)
    const { signal } = this.#context
    signal.throwIfAborted()
    try {
      if (!(await this.#robots.isAllowed(url, signal))) return this.#disallowed(spot)
      const delayMs = Math.max(this.#settings.delay_ms, this.#robots.delayMs(url))
      await this.#parts.pace.turn(url.host, delayMs, signal)
      const fetched = await requestPage(this.#parts, spot.url, signal)
      this.#silent = 0
      await this.#take(spot, fetched)
    } catch (error) {
      if (!(error instanceof OutboundError || error instanceof TookTooLong)) throw error
      this.#sums.unanswered++
      this.#broken(spot, error.message)
      if (error instanceof TookTooLong) return
      const isSilent = error.fault === 'unreachable' || error.fault === 'timeout'
      if (isSilent && ++this.#silent >= SILENT_MAX) {
        throw new Error(`${url.origin} no longer answers`, { cause: error })
      }
    }
  }

  async #take(spot: Spot, fetched: Fetched): Promise<void> {
    switch (fetched.kind) {
      case 'page':
        this.#busy = 0
        return this.#keep(spot, fetched)
      case 'moved':
        this.#sums.skipped++
        this.#frontier.offer(fetched.to, spot.depth)
        if (isStart(spot) && !this.#frontier.isOurs(fetched.to)) {
          throw new Error(`the start page moved to another host: ${fetched.to.host}`)
        }
        return
      case 'other':
        this.#sums.skipped++
        if (isStart(spot)) throw new Error(`the start page is no text: ${fetched.contentType}`)
        return
      case 'busy':
        return this.#standBack(spot, fetched)
      case 'broken':
        if (fetched.isGone) await this.#parts.pages.drop(this.#keyOf(spot.url))
        else this.#sums.unanswered++
        return this.#broken(spot, `answered ${fetched.status}`)
    }
  }

  async #keep(spot: Spot, fetched: Fetched & { kind: 'page' }): Promise<void> {
    const { signal } = this.#context
    const page = await slices.run(readPage(fetched), { signal })
    this.#sums.crawled++
    this.#own.crawled++
    const hash = createHash('sha256').update(`${page.title}\n${page.text}`).digest('base64')
    const isDouble = page.text !== '' && this.#texts.has(hash)
    this.#texts.add(hash)
    if (page.mayIndex && !isDouble && page.text !== '') {
      const { title, text } = page
      const fetchedAt = this.#parts.clock.now()
      const { runId } = this.#context
      const source = this.#settings.source ?? new URL(this.#settings.url).hostname
      const key = this.#keyOf(spot.url)
      await this.#parts.pages.put({ ...key, runId, source, title, text, fetchedAt })
      this.#sums.indexed++
      this.#own.indexed++
    }
    // Copies of a page under ever new addresses are how a site without end looks.
    if (page.mayFollow && !isDouble) await slices.run(this.#follow(page.links, spot))
  }

  *#follow(links: readonly URL[], spot: Spot): Steps<void> {
    for (const [i, link] of links.entries()) {
      if (i % LINKS_PER_STEP === 0) yield
      this.#frontier.offer(link, spot.depth + 1)
    }
  }

  #disallowed(spot: Spot): void {
    this.#sums.skipped++
    this.#line('info', `robots.txt does not allow ${shownUrl(spot.url)}`)
    if (isStart(spot)) throw new Skip(`robots.txt does not allow ${shownUrl(spot.url)}`)
  }

  #broken(spot: Spot, why: string): void {
    this.#sums.failed++
    this.#line('warn', `${shownUrl(spot.url)}: ${why}`)
    if (isStart(spot)) throw new Error(`the start page cannot be fetched: ${why}`)
  }

  /** A host that asks for patience gets it; asked too often, the crawl goes on another time. */
  async #standBack(spot: Spot, { status, retryAfter }: Fetched & { kind: 'busy' }): Promise<void> {
    const { clock } = this.#parts
    this.#frontier.again(spot)
    const asked = retryAfterMs(retryAfter, clock.now())
    const waitMs = asked ?? 1_000 * 2 ** this.#busy
    this.#line('warn', `${shownUrl(spot.url)}: answered ${status}, waiting ${waitMs} ms`)
    if (++this.#busy >= BUSY_MAX || waitMs > BUSY_WAIT_MAX) {
      throw new RetryAfter(waitMs, `the host answered ${status} too often`)
    }
    await pause(clock, waitMs, this.#context.signal)
  }

  #keyOf(url: string) {
    const { id, spec } = this.#context.job
    return { tenant: spec.tenant, jobId: id, url }
  }

  #line(level: 'info' | 'warn', message: string): void {
    if (this.#lines++ < LINES_MAX) this.#context.log[level](message)
  }

  #count(): void {
    this.#context.measure('items_crawled', this.#own.crawled)
    this.#context.measure('items_indexed', this.#own.indexed)
  }

  #tell(): void {
    this.#count()
    const { crawled, indexed, failed, skipped } = this.#sums
    const done = crawled + failed + skipped
    const total = Math.max(1, done + this.#frontier.waiting)
    this.#context.progress(done / total, `${crawled} crawled, ${indexed} indexed`)
  }

  /** A state too large to be kept leaves the one before: more is fetched twice, nothing is missed. */
  async #save(isLast: boolean): Promise<void> {
    const now = this.#parts.clock.now()
    const isTime = ++this.#sinceSaved >= CHECKPOINT_PAGES || now - this.#savedAt >= CHECKPOINT_MS
    if (!isLast && !isTime) return
    this.#sinceSaved = 0
    this.#savedAt = now
    const frontier = this.#frontier.snapshot()
    const checkpoint =
      frontier === null ? null : { ...this.#sums, startedAt: this.#startedAt, frontier }
    const fits = (jsonBytes(checkpoint) ?? Infinity) <= limits.checkpointBytes
    await this.#context.heartbeat(fits ? (checkpoint ?? undefined) : undefined)
  }

  async #finish(): Promise<Json> {
    const { isFull } = this.#frontier
    const { tenant, jobId } = this.#keyOf('')
    // Only a crawl that got an answer everywhere can tell what is no longer there.
    const isComplete = !isFull && this.#sums.unanswered === 0
    const retired = isComplete
      ? await this.#parts.pages.retire({ tenant, jobId, before: this.#startedAt })
      : 0
    this.#context.log.info('crawl finished', { ...this.#sums, retired, is_complete: isComplete })
    return { ...this.#sums, retired, is_complete: isComplete }
  }
}

function isStart({ depth }: Spot): boolean {
  return depth === 0
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function whole(value: Json | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}
