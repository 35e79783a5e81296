// Pages in PostgreSQL, in a schema beside the store's, so that every node finds what any crawled.
// Words are cut and folded here: pages and questions are cut alike, whatever the server speaks.

import { SchedulerError } from '../../core/errors.ts'
import { wordsOf, type FoundPages, type Page, type PageQuery, type PageSink } from './pages.ts'

type Value = string | number | boolean | null

/** What is needed of a connection: rows as arrays, in the order of their columns. */
export interface PagesConnection {
  rows(sql: string, values?: readonly Value[]): Promise<readonly (readonly unknown[])[]>
  close(): Promise<void>
}

export interface PostgresPagesOptions {
  /** Opened at the first use. */
  readonly connect: () => PagesConnection
  /** The store's own schema, unquoted. */
  readonly schema: string
}

/** Said of a schema that is ours, so that nobody else's is ever written to. */
const MARK = 'crawled pages of carillon'
/** "CRLP": one at a time makes the table, over all nodes. */
const LATCH = 0x43_52_4c_50
/** The longest name of a schema is 63 bytes. */
const SCHEMA_MAX = 63
const WORD_MAX = 100
/** An index entry holds a megabyte. */
const WORDS_BYTES_MAX = 500_000
const SNIPPET_BEFORE = 80
const SNIPPET_LENGTH = 240

export class PostgresPages implements PageSink {
  readonly #options: PostgresPagesOptions
  readonly #schema: string
  #ready: Promise<PagesConnection> | null = null

  constructor(options: PostgresPagesOptions) {
    this.#options = options
    this.#schema = `${options.schema.slice(0, SCHEMA_MAX - '_pages'.length)}_pages`
  }

  async put(page: Page): Promise<void> {
    const { tenant, jobId, runId, source, url, title, text, fetchedAt } = page
    const place = await this.#place()
    await place.rows(
      `insert into ${this.#table}
        (tenant, job_id, run_id, source, url, title, body, fetched_at, title_words, words)
        values ($1, $2, $3, $4, $5, $6, $7, $8,
          array(select json_array_elements_text($9::json)),
          array_to_tsvector(array(select json_array_elements_text($10::json))))
        on conflict (tenant, job_id, url) do update set run_id = excluded.run_id,
          source = excluded.source, title = excluded.title, body = excluded.body,
          fetched_at = excluded.fetched_at, title_words = excluded.title_words,
          words = excluded.words`,
      [
        ...[tenant, jobId, runId, source, url].map(plain),
        plain(title),
        plain(text),
        fetchedAt,
        JSON.stringify(folded(title)),
        JSON.stringify(folded(`${title} ${text}`)),
      ],
    )
  }

  async drop({ tenant, jobId, url }: Pick<Page, 'tenant' | 'jobId' | 'url'>): Promise<void> {
    const sql = `delete from ${this.#table} where tenant = $1 and job_id = $2 and url = $3`
    await (await this.#place()).rows(sql, [tenant, jobId, url].map(plain))
  }

  async retire(crawl: { tenant: string; jobId: string; before: number }): Promise<number> {
    const gone = await (
      await this.#place()
    ).rows(
      `with gone as (delete from ${this.#table}
        where tenant = $1 and job_id = $2 and fetched_at < $3 returning 1)
        select count(*) from gone`,
      [plain(crawl.tenant), plain(crawl.jobId), crawl.before],
    )
    return Number(gone[0]?.[0] ?? 0)
  }

  async remove(jobs: readonly { tenant: string; jobId: string }[]): Promise<void> {
    const place = await this.#place()
    for (const { tenant, jobId } of jobs) {
      const sql = `delete from ${this.#table} where tenant = $1 and job_id = $2`
      await place.rows(sql, [plain(tenant), plain(jobId)])
    }
  }

  async search(query: PageQuery): Promise<FoundPages> {
    const words = [...new Set(wordsOf(query.text).map(fold))]
    if (words.length === 0) return { items: [], total: 0 }
    const place = await this.#place()
    const { tenant, source = null, jobId = null, limit, offset } = query
    const asked = words.map(word => `'${word}'`).join(' & ')
    const filter = [asked, plain(tenant), source, jobId]
    const matching = `from ${this.#table} where words @@ $1::tsquery and tenant = $2
      and ($3::text is null or source = $3) and ($4::text is null or job_id = $4)`
    const [counted] = await place.rows(`select count(*) ${matching}`, filter)
    const rows = await place.rows(
      `select url, title, source, job_id, fetched_at,
          substr(body, greatest(1, strpos(lower(body), $5) - ${SNIPPET_BEFORE}), ${SNIPPET_LENGTH})
        ${matching} order by (select count(*) from unnest(title_words) w
          where w in (select json_array_elements_text($6::json))) desc, fetched_at desc, url
        limit $7 offset $8`,
      [...filter, words[0]!, JSON.stringify(words), limit, offset],
    )
    return { total: Number(counted?.[0] ?? 0), items: rows.map(foundOf) }
  }

  async close(): Promise<void> {
    const ready = this.#ready
    this.#ready = null
    await (await ready?.catch(() => null))?.close()
  }

  get #table(): string {
    return `"${this.#schema}".pages`
  }

  /** A failed beginning is tried again by the next call. */
  #place(): Promise<PagesConnection> {
    this.#ready ??= this.#prepare().catch((error: unknown) => {
      this.#ready = null
      throw error
    })
    return this.#ready
  }

  async #prepare(): Promise<PagesConnection> {
    const place = this.#options.connect()
    try {
      await this.#assertOurs(place)
      await place.rows(`do $$ begin
        perform pg_advisory_xact_lock(${LATCH});
        create schema if not exists "${this.#schema}";
        comment on schema "${this.#schema}" is '${MARK}';
        create table if not exists ${this.#table} (
          tenant text not null, job_id text not null, run_id text not null, source text not null,
          url text not null, title text not null, body text not null, fetched_at bigint not null,
          title_words text[] not null, words tsvector not null,
          primary key (tenant, job_id, url)
        );
        create index if not exists pages_words on ${this.#table} using gin (words);
      end $$`)
      return place
    } catch (error) {
      await place.close()
      throw error
    }
  }

  async #assertOurs(place: PagesConnection): Promise<void> {
    const [held] = await place.rows(
      `select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = $1`,
      [this.#schema],
    )
    if (held === undefined || held[0] === MARK) return
    throw new SchedulerError(
      'STORE_FOREIGN',
      `the schema ${this.#schema} belongs to something else; nothing was changed in it`,
    )
  }
}

function foundOf(row: readonly unknown[]) {
  const [url, title, source, jobId, fetchedAt, snippet] = row.map(String)
  return {
    url: url!,
    title: title!,
    source: source!,
    jobId: jobId!,
    fetchedAt: Number(fetchedAt),
    snippet: snippet!,
  }
}

/** Without what the server cannot hold: zeros and halves of characters. */
function plain(text: string): string {
  return text.replaceAll('\0', ' ').replaceAll(/\p{Surrogate}/gu, '\uFFFD')
}

/** Small letters without their marks, as SQLite's index has them. */
function fold(word: string): string {
  return word.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

/** Every word once, as many as an entry of the index holds. */
function folded(text: string): string[] {
  const words = new Set<string>()
  let left = WORDS_BYTES_MAX
  for (const [word] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const made = fold(word.slice(0, WORD_MAX))
    if (made === '' || words.has(made)) continue
    left -= Buffer.byteLength(made)
    if (left < 0) break
    words.add(made)
  }
  return [...words]
}
