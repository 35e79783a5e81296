// Pages in a SQLite file, with SQLite's own full-text index beside them. A page of many words takes it
// tens of milliseconds of its thread: so pages are written and removed one in a turn of the loop.

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { SchedulerError } from '../../core/errors.ts'
import { slices, type Steps } from '../slices.ts'
import { wordsOf, type FoundPages, type Page, type PageQuery, type PageSink } from './pages.ts'

/** What is needed of a SQLite driver: rows as arrays, in the order of their columns. */
export interface PagesDatabase {
  exec(sql: string): void
  prepare(sql: string): {
    run(...values: Value[]): { changes: number | bigint }
    get(...values: Value[]): Value[] | undefined
    all(...values: Value[]): Value[][]
  }
  close(): void
}
type Value = null | number | string

export interface SqlitePagesOptions {
  readonly path: string
  readonly open: (path: string) => PagesDatabase
}

/** "CRLP": pages, so that the file is not taken for a store of jobs. */
const APPLICATION_ID = 0x43_52_4c_50
const SCHEMA_VERSION = 1

const schema = `
  create table pages (
    id integer primary key,
    tenant text not null,
    job_id text not null,
    run_id text not null,
    source text not null,
    url text not null,
    title text not null,
    body text not null,
    fetched_at integer not null,
    unique (tenant, job_id, url)
  );
  create virtual table pages_text using fts5 (
    title, body, content = 'pages', content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
  );
  create trigger pages_added after insert on pages begin
    insert into pages_text (rowid, title, body) values (new.id, new.title, new.body);
  end;
  create trigger pages_removed after delete on pages begin
    insert into pages_text (pages_text, rowid, title, body)
      values ('delete', old.id, old.title, old.body);
  end;
  create trigger pages_changed after update on pages begin
    insert into pages_text (pages_text, rowid, title, body)
      values ('delete', old.id, old.title, old.body);
    insert into pages_text (rowid, title, body) values (new.id, new.title, new.body);
  end;
`

const putSql = `
  insert into pages (tenant, job_id, run_id, source, url, title, body, fetched_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (tenant, job_id, url) do update set
    run_id = excluded.run_id, source = excluded.source, title = excluded.title,
    body = excluded.body, fetched_at = excluded.fetched_at`

const matching = `
  from pages_text join pages on pages.id = pages_text.rowid
  where pages_text match ? and pages.tenant = ?
    and (? is null or pages.source = ?) and (? is null or pages.job_id = ?)`

export class SqlitePages implements PageSink {
  readonly #db: PagesDatabase
  #isOpen = true

  private constructor(db: PagesDatabase) {
    this.#db = db
  }

  /** Makes the file when there is none; refuses one that belongs to something else. */
  static open({ path, open }: SqlitePagesOptions): SqlitePages {
    if (path !== ':memory:') {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      closeSync(openSync(path, 'a', 0o600))
    }
    const db = open(path)
    try {
      prepare(db, path)
      return new SqlitePages(db)
    } catch (error) {
      db.close()
      throw error
    }
  }

  async put(page: Page): Promise<void> {
    const { tenant, jobId, runId, source, url, title, text, fetchedAt } = page
    const values = [tenant, jobId, runId, source, url, title, text, fetchedAt]
    await this.#inTurn(this.#writes([() => this.#db.prepare(putSql).run(...values)]))
  }

  async drop({ tenant, jobId, url }: Pick<Page, 'tenant' | 'jobId' | 'url'>): Promise<void> {
    const sql = 'delete from pages where tenant = ? and job_id = ? and url = ?'
    this.#db.prepare(sql).run(tenant, jobId, url)
  }

  async retire(crawl: { tenant: string; jobId: string; before: number }): Promise<number> {
    return this.#removeEach('tenant = ? and job_id = ? and fetched_at < ?', [
      crawl.tenant,
      crawl.jobId,
      crawl.before,
    ])
  }

  async remove(jobs: readonly { tenant: string; jobId: string }[]): Promise<void> {
    for (const { tenant, jobId } of jobs) {
      await this.#removeEach('tenant = ? and job_id = ?', [tenant, jobId])
    }
  }

  /** Says how many there were. */
  async #removeEach(which: string, values: readonly Value[]): Promise<number> {
    const ids = this.#db.prepare(`select id from pages where ${which}`).all(...values)
    // Asked again of each: what is crawled anew meanwhile stays.
    const one = this.#db.prepare(`delete from pages where id = ? and ${which}`)
    return this.#inTurn(
      this.#writes(
        ids.map(
          ([id]) =>
            () =>
              one.run(id!, ...values),
        ),
      ),
    )
  }

  *#writes(writes: readonly (() => { changes: number | bigint })[]): Steps<number> {
    let changes = 0
    for (const write of writes) {
      yield
      if (!this.#isOpen) throw new Error('the pages were closed')
      changes += Number(write().changes)
    }
    return changes
  }

  /** However many there are: nobody waits for them but who asked. */
  #inTurn<T>(steps: Steps<T>): Promise<T> {
    return slices.run(steps, { totalMs: Infinity })
  }

  async search(query: PageQuery): Promise<FoundPages> {
    const words = wordsOf(query.text)
    if (words.length === 0) return { items: [], total: 0 }
    const { tenant, source = null, jobId = null, limit, offset } = query
    const match = words.map(word => `"${word}"`).join(' ')
    const filter = [match, tenant, source, source, jobId, jobId]
    const total = Number(this.#db.prepare(`select count(*) ${matching}`).get(...filter)?.[0] ?? 0)
    const rows = this.#db
      .prepare(
        `select pages.url, pages.title, pages.source, pages.job_id, pages.fetched_at,
           snippet(pages_text, 1, '', '', '…', 32)
         ${matching} order by bm25(pages_text, 5.0, 1.0), pages.id limit ? offset ?`,
      )
      .all(...filter, limit, offset)
    return { total, items: rows.map(foundOf) }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#db.close()
  }
}

function foundOf([url, title, source, jobId, fetchedAt, snippet]: Value[]) {
  return {
    url: String(url),
    title: String(title),
    source: String(source),
    jobId: String(jobId),
    fetchedAt: Number(fetchedAt),
    snippet: String(snippet),
  }
}

function prepare(db: PagesDatabase, path: string): void {
  const mark = (name: string) => Number(db.prepare(`pragma ${name}`).get()?.[0] ?? 0)
  db.exec('pragma busy_timeout = 5000')
  const isEmpty = Number(db.prepare('select count(*) from sqlite_schema').get()?.[0] ?? 0) === 0
  if (!isEmpty && mark('application_id') !== APPLICATION_ID) {
    const message = `${path} is a database of something else; nothing was changed in it`
    throw new SchedulerError('STORE_FOREIGN', message)
  }
  if (mark('user_version') > SCHEMA_VERSION) {
    throw new SchedulerError('STORE_NEWER', `${path} was written by a newer version`)
  }
  db.exec('pragma journal_mode = wal')
  // A page lost with the power is fetched again by the next crawl.
  db.exec('pragma synchronous = normal')
  db.exec('begin immediate')
  try {
    if (mark('user_version') === 0) {
      db.exec(schema)
      db.exec(`pragma application_id = ${APPLICATION_ID}`)
      db.exec(`pragma user_version = ${SCHEMA_VERSION}`)
    }
    db.exec('commit')
  } catch (error) {
    db.exec('rollback')
    throw error
  }
}
