// Where the thread begins: it opens its file and does what it is told, in order.

import { parentPort, workerData } from 'node:worker_threads'
import { SqlitePages } from '../actions/crawl/sqlite-pages.ts'
import { SchedulerError } from '../core/errors.ts'
import { SqliteTables } from '../sources/sqlite-tables.ts'
import type { Row } from '../sources/tables.ts'
import { openDatabase } from '../store/sql/sqlite/driver.ts'
import type { DataCall, DataFile, FromDataThread, ToDataThread } from './messages.ts'

const { kind, path } = workerData as DataFile
const port = parentPort!
const rowsOf = new Map<number, Row[]>()

const options = { path, open: openDatabase }
const pages = kind === 'pages' ? SqlitePages.open(options) : null
const tables = kind === 'tables' ? new SqliteTables(options) : null

async function done(call: DataCall, rows: readonly Row[]): Promise<number> {
  switch (call.call) {
    case 'put':
      await pages?.put(call.page)
      return 1
    case 'drop':
      await pages?.drop(call.page)
      return 1
    case 'retire':
      return (await pages?.retire(call.crawl)) ?? 0
    case 'remove':
      await pages?.remove(call.jobs)
      return call.jobs.length
    case 'write':
      return (await tables?.write({ ...call.page, rows })) ?? 0
    case 'removeRows':
      return (await tables?.removeRows(call.from)) ?? 0
    case 'close':
      await (pages ?? tables)?.close()
      return 0
  }
}

async function answer(id: number, call: DataCall): Promise<FromDataThread> {
  const rows = rowsOf.get(id) ?? []
  rowsOf.delete(id)
  try {
    return { id, kind: 'done', count: await done(call, rows) }
  } catch (error) {
    const { message } = error as Error
    const code = error instanceof SchedulerError ? error.code : null
    return { id, kind: 'failed', error: { message, code } }
  }
}

port.on('message', (message: ToDataThread) => {
  const { id } = message
  if (message.call === 'rows') rowsOf.set(id, [...(rowsOf.get(id) ?? []), ...message.rows])
  else void answer(id, message).then(told => port.postMessage(told))
})
