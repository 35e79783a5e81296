// Outlives the process that started servers: when that one is gone, however it went, this stops
// the servers and removes their folders. Told by lines on its input, which ends with the starter.

import { createInterface } from 'node:readline'
import { removeFolder } from './folders.ts'
import type { Watched } from './guard.ts'
import { isAlive, readPid, worksIn } from './processes.ts'
import { eventually } from './wait.ts'

const STOP_MS = 5_000
const watched = new Map<string, Watched>()

async function end({ folder, server }: Watched): Promise<void> {
  const pid = server === null ? null : readPid(server.pidFile)
  if (pid !== null && worksIn(pid, folder)) {
    process.kill(pid, server!.signal)
    const gone = () => (isAlive(pid) ? null : true)
    await eventually('the server ends', gone, STOP_MS).catch(() => process.kill(pid, 'SIGKILL'))
  }
  await removeFolder(folder)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { watch, release } = JSON.parse(line) as { watch?: Watched; release?: string }
  if (watch !== undefined) watched.set(watch.folder, watch)
  if (release !== undefined) watched.delete(release)
}
await Promise.allSettled(Array.from(watched.values(), end))
