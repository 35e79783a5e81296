// A program that declares one whole set of tasks, and may be told to die at the so manieth thing it
// says to its database while it writes them.

import pg from 'pg'
import { openStore } from '../../src/compose.ts'
import { createTaskScheduler, type Registration } from '../../src/index.ts'
import { Connection } from '../../src/store/sql/sqlite/connection.ts'
import type { Store } from '../../src/store/port.ts'
import { isAtomic } from '../support/faulty.ts'

const [address, letter, count, fatal] = process.argv.slice(2)

/** None of them is ever due while the test lasts. */
const tasks = Array.from({ length: Number(count) }, (_, i): Registration => {
  return [`${letter}-${i}`, '0 0 29 2 *', () => {}, 0]
})

let left = Infinity

/** Nothing of this process is heard after the last word it was given. */
function counted<T extends object>(speaker: T, name: keyof T): void {
  const speak = speaker[name] as (...words: unknown[]) => unknown
  const heard = function (this: unknown, ...words: unknown[]): unknown {
    if (--left <= 0) process.kill(process.pid, 'SIGKILL')
    return Reflect.apply(speak, this, words)
  }
  Object.assign(speaker, { [name]: heard })
}

counted(Connection.prototype, 'statement')
counted(pg.Client.prototype, 'query')

function doomed(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (isAtomic(name, args) && fatal !== undefined) left = Number(fatal)
        return Reflect.apply(member, target, args) as unknown
      }
    },
  })
}

const store = await openStore(address!, { now: () => Date.now(), listens: false })
await createTaskScheduler({ store: doomed(store), tz: 'UTC' }).initialize(tasks)
process.stdout.write('ready\n')
